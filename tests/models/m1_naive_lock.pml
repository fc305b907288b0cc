/* M1: ladder::naive_lock. SETNX until it succeeds, compare and delete to release.
 * CRASH  a holder may die inside: nobody gets in any more.
 * Checks: one inside at a time; no deadlock (invalid end state). */
#ifndef N
#define N 3
#endif
byte lock = 0;      /* 0 = free, else owner pid+1 */
byte incs = 0;      /* clients inside the critical section */

active [N] proctype client() {
	/* SETNX until it succeeds */
	atomic { lock == 0 -> lock = _pid + 1; incs++ }
	assert(incs == 1);
#ifdef CRASH
	if
	:: skip
	:: atomic { incs--; goto dead }      /* kill -9: key stays for ever */
	fi;
#endif
	atomic { incs--; lock = 0 }
dead:	skip
}
