/* M2: ladder::timeout_lock. SETNX, then EXPIRE as a second command; who loses repairs a key without TTL.
 * Discrete time: the process clk moves the server's clock; a client believes that it holds for bel[i] more ticks.
 * REPAIR    0: none; 1: TTL answers -1, then EXPIRE, two commands (the book, and the ladder); 2: both in one script;
 *           3: EXPIRE where TTL is 0 or -1 (a client that takes both for "none")
 * BEL_EARLY the belief begins when SETNX is sent (as all of tranca counts); otherwise when EXPIRE has returned (the book)
 * CHECK     EXPIRE only if the key is still mine, in one script; otherwise the acquire fails
 * T0 T1 T2  each client's timeout in ticks.  CRASH: a client may die before its EXPIRE, or while it holds
 * Checks: one believer at a time. */
#ifndef REPAIR
#define REPAIR 1
#endif
#ifndef T0
#define T0 2
#endif
#ifndef T1
#define T1 2
#endif
#ifndef T2
#define T2 2
#endif
#ifndef N
#define N 3
#endif
#ifndef MAXT
#define MAXT 8
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
byte own = 0; short ttl = -1;     /* server: owner, ttl (-1 = none) */
byte bel[N];                      /* ticks each client still believes */
byte now = 0; bit over = 0;
byte got = 0;

inline tick() {
	d_step {
		now++;
		if :: own != 0 && ttl > 0 -> ttl--; if :: ttl == 0 -> own = 0; ttl = -1 :: else fi :: else fi;
		if :: bel[0] > 0 -> bel[0]-- :: else fi;
		if :: bel[1] > 0 -> bel[1]-- :: else fi;
#if N>2
		if :: bel[2] > 0 -> bel[2]-- :: else fi;
#endif
	}
}
active proctype clk() {
	do :: now < MAXT -> tick() :: now >= MAXT -> break od; over = 1
}
#define TT(i) (i==0 -> T0 : (i==1 -> T1 : T2))
#define HELD ((bel[0]>0)+(bel[1]>0)+(bel[2]>0))

proctype client(byte me) {
	byte mine; byte r; short t; byte start;
	byte rounds = ROUNDS;
again:
	do
	:: over -> goto done
	:: else ->
	   start = now;
	   atomic { r = 0; if :: own == 0 -> own = me+1; ttl = -1; r = 1 :: else fi }
	   if
	   :: r == 1 ->
#ifdef CRASH
	      if :: skip :: goto dead fi;
#endif
#ifdef CHECK
	      atomic { if :: own == me+1 -> ttl = TT(me); r = 1 :: else -> r = 0 fi;
#else
	      atomic { if :: own != 0 -> ttl = TT(me) :: else fi; r = 1;
#endif
#ifdef BEL_EARLY
		if :: r == 1 && (now - start) < TT(me) -> bel[me] = TT(me) - (now - start) :: else -> r = 0 fi;
#else
		if :: r == 1 -> bel[me] = TT(me) :: else fi;
#endif
		if :: r == 1 -> got++; assert(HELD <= 1) :: else fi
	      };
	      if :: r == 0 -> goto retry :: else fi;
#ifdef CRASH
	      if :: skip :: goto dead fi;
#endif
	      /* work, then safe (compare) release; or believe lapses */
	      if
	      :: atomic { bel[me] > 0 -> bel[me] = 0; if :: own == me+1 -> own = 0; ttl = -1 :: else fi }
	      :: bel[me] == 0
	      fi;
	      rounds--;
	      if :: rounds == 0 -> goto done :: else -> goto again fi
	   :: else ->
#if REPAIR==1
	      atomic { if :: own == 0 -> t = -2 :: else -> t = ttl fi };
	      if :: t == -1 -> atomic { if :: own != 0 -> ttl = TT(me) :: else fi } :: else fi
#elif REPAIR==2
	      atomic { if :: own != 0 && ttl == -1 -> ttl = TT(me) :: else fi }
#elif REPAIR==3
	      atomic { if :: own == 0 -> t = -2 :: else -> t = (ttl == 1 -> 0 : ttl) fi };
	      if :: t == -1 || t == 0 -> atomic { if :: own != 0 -> ttl = TT(me) :: else fi } :: else fi
#else
	      skip
#endif
	   fi;
retry:	   atomic { (own == 0 || ttl == -1 || over); skip }   /* poll again when it can matter */
	od;
dead:	atomic { bel[me] = 0 };
done:	skip
}
init { atomic { run client(0); run client(1);
#if N>2
	run client(2)
#endif
	} }
