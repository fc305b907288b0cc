/* M4: ladder::fair_semaphore and ladder::guarded_semaphore, and the one script of tranca::semaphore.
 * first transaction: INCR the counter; second: ZADD both sets, hold if ZRANK among the counters < LIMIT.
 * GUARD  0: none (fair_semaphore)
 *        1: a lock without TTL around both.  CRASH: its holder may die
 *        2: a lock with a lease around both (guarded_semaphore).  PAUSE: the lease may lapse inside
 *        3: as 2, and the second transaction is a script that checks that the guard is still mine
 *        4: no guard, one script that counts (tranca::semaphore)
 * Checks: no more holders than permits; no deadlock (invalid end state). */
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
byte ctr = 0; byte rk[N];   /* rk: owner zset score, 0 = absent */
byte hold = 0; byte guard = 0; byte deadguard = 0;

#ifdef PAUSE
/* the guard's lease lapses at any time (its holder is paused) */
active proctype lapse() { end: do :: atomic { guard != 0 -> guard = 0 } od }
#endif

proctype client(byte me) {
	byte c; byte rank; byte j; byte rounds = ROUNDS;
	do
	:: rounds == 0 -> break
	:: else -> rounds--; rank = LIMIT;
#if GUARD==1 || GUARD==2 || GUARD==3
	   atomic { guard == 0 -> guard = me + 1 };
#endif
#if GUARD==4
	   atomic {
	     rank = 0; j = 0; do :: j < N -> if :: rk[j] != 0 -> rank++ :: else fi; j++ :: else -> break od;
	     if :: rank < LIMIT -> ctr++; rk[me] = ctr; hold++; assert(hold <= LIMIT) :: else fi
	   };
#else
	   atomic { ctr++; c = ctr };
#ifdef CRASH
	   if :: skip :: goto dead fi;
#endif
	   atomic {
#if GUARD==3
	     if
	     :: guard != me + 1 -> rank = LIMIT     /* lost the guard: give up */
	     :: else ->
#endif
	     rk[me] = c; rank = 0;
	     j = 0; do :: j < N -> if :: j != me && rk[j] != 0 && rk[j] < c -> rank++ :: else fi; j++ :: else -> break od;
	     if :: rank < LIMIT -> hold++; assert(hold <= LIMIT) :: else fi
#if GUARD==3
	     fi
#endif
	   };
#endif
#if GUARD!=4
	   if :: rank >= LIMIT -> rk[me] = 0 :: else fi;
#endif
#if GUARD==1 || GUARD==2 || GUARD==3
	   atomic { if :: guard == me + 1 -> guard = 0 :: else fi };
#endif
	   if :: rank < LIMIT -> atomic { hold--; rk[me] = 0 } :: else fi
	od;
dead:	skip
}
init { atomic { byte i = 0; do :: i < N -> run client(i); i++ :: else -> break od } }
