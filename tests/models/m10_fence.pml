/* M10: the fence of one server (mutex_grant.lua, mutex_fence.lua; semaphore_grant.lua): max(last one reserved + 1, clock).
 * RESERVE n  a grant reserves n further ones, which are handed out before the next grant (the mutex: 8, or 64; its key holds
 *            the last one less 8, which comes to the same)
 * GRANTT n   a grant takes n ticks
 * LOSS   the counter and the lock may vanish (FLUSHALL, eviction, restart); STALE: or fall back to what a replica has
 * BACK n the clock may step back by n, once;  FWD: forward by 2, and be set right later
 * INCR   a plain counter instead.  GAPT n: a loss takes n ticks before the next grant
 * Checks: each fence is larger than all before it. */
#ifndef GRANTT
#define GRANTT 1
#endif
#ifndef RESERVE
#define RESERVE 0
#endif
#ifndef GAPT
#define GAPT 1
#endif
#define BASE 10
byte clk = BASE, cnt = 0, rep = 0, last = 0; byte true_t = 0; byte nb = 0, nf = 0, nl = 0; byte tok;
active proctype sys() {
	byte k;
	do
	:: true_t < 8 -> atomic { true_t++; clk++ }
	:: true_t + GRANTT <= 8 -> atomic {
	     true_t = true_t + GRANTT; clk = clk + GRANTT;
#ifdef INCR
	     tok = cnt + 1;
#else
	     tok = (cnt + 1 > clk -> cnt + 1 : clk);
#endif
	     assert(tok > last); last = tok + RESERVE; cnt = tok + RESERVE;
	     if :: rep = cnt :: skip fi }     /* replication may lag */
#ifdef LOSS
	:: nl < 2 && true_t < 7 -> atomic { nl++; k = 0; do :: k < GAPT -> true_t++; clk++; k++ :: else -> break od;
#ifdef STALE
	     cnt = rep
#else
	     cnt = 0
#endif
	     }
#endif
#ifdef BACK
	:: nb < 1 -> atomic { nb++; clk = clk - BACK }
#endif
#ifdef FWD
	:: nf == 0 -> atomic { nf = 1; clk = clk + 2 }
	:: nf == 1 -> atomic { nf = 2; clk = clk - 2 }
#endif
	:: true_t >= 8 -> break
	od
}
