/* M8: waiting with timers, in discrete time: the clock ticks when nobody else can move (reactions take no time; pauses are
 * explicit). A lease lasts L ticks; a BLPOP lasts what the failed acquire was told, CAP ticks at most; the mark G ticks longer.
 * GAP    a waiter may be delayed by so many ticks between its acquire and its BLPOP
 * ADJ    it takes them off the BLPOP's time (waiter::next_slice: less the time since the failed acquire was sent)
 * WCRASH waiter 0 may die just after it was woken.  PAUSEW: it may be paused for ever while it sleeps, and eat a wake-up
 * HCRASH a holder may die
 * lostfor: ticks in a row in which the lock is free, a live waiter sleeps, no wake-up lies there and nobody is awake.
 * Checks: lostfor <= BOUND. */
#ifndef L
#define L 3
#endif
#ifndef G
#define G 1
#endif
#ifndef CAP
#define CAP 99
#endif
#ifndef NW
#define NW 2
#endif
#ifndef NB
#define NB 1
#endif
#ifndef MAXT
#define MAXT 12
#endif
#ifndef BOUND
#define BOUND L
#endif
#ifndef GAP
#define GAP 0
#endif
#define NP (NW+NB)
byte now = 0;
byte own = 0, lexp = 0;         /* lock */
byte fexp = 0;                  /* flag valid while now < fexp */
byte toks = 0;
byte dl[NW]; bit served[NW]; bit inq[NW]; bit dead_[NW];
chan bq = [NW] of { byte };
byte blk = 0, awake = 0, lostfor = 0; byte crashes = 0;
#define FREE (own == 0 || now >= lexp)
#define FLAG (now < fexp)
#if NW==2
#define SERVED ((served[0] && !dead_[0]) || (served[1] && !dead_[1]))
#else
#define SERVED ((served[0] && !dead_[0]) || (served[1] && !dead_[1]) || (served[2] && !dead_[2]))
#endif
#define LOST (blk > 0 && FREE && toks == 0 && awake == 0 && !SERVED)

active proctype clk() {
	do
	:: timeout -> atomic {
	     if :: now >= MAXT -> break :: else fi;
	     if :: LOST -> lostfor++ :: else -> lostfor = 0 fi;
	     assert(lostfor <= BOUND);
	     now++ }
	od
}
inline push() {
	if :: len(bq) > 0 -> bq ? w; served[w] = 1; w = 0 :: else -> toks++ fi
}
inline release(i) {
	atomic { if
	:: own == i+1 && now < lexp -> own = 0; if :: FLAG && toks == 0 -> push() :: else fi
	:: else fi }
}
proctype waiter(byte me) {
	byte w = 0; byte t; byte d; byte pttl; bit got; bit woken = 0;
	do
	:: atomic {
	     if :: woken -> awake-- :: else fi; woken = 0;
	     if
	     :: FREE -> own = me+1; lexp = now + L; got = 1
	     :: else -> got = 0; pttl = lexp - now;
	        if :: pttl > CAP -> pttl = CAP :: else fi;
	        if :: now + pttl + G > fexp -> fexp = now + pttl + G :: else fi
	     fi };
	   if :: got -> break :: else fi;
	   t = now;
#if GAP>0
	   if :: d = 0 :: d = GAP fi; (now >= t + d || now >= MAXT);
#endif
#ifdef ADJ
	   if :: now - t >= pttl -> pttl = 0 :: else -> pttl = pttl - (now - t) fi;
	   if :: pttl == 0 -> goto cont :: else fi;
#endif
	   atomic { blk++; dl[me] = now + pttl; if :: toks > 0 -> toks--; served[me] = 1 :: else -> bq ! me fi };
#ifdef PAUSEW
	   if :: skip :: atomic { me == 0 && crashes == 0 && !served[me] -> crashes++; blk--; dead_[me] = 1 }; goto done fi;
#endif
	   if
	   :: atomic { served[me] -> served[me] = 0; woken = 1; awake++; blk-- }
	   :: atomic { !served[me] && now >= dl[me] -> if :: bq ?? eval(me) :: else fi; woken = 1; awake++; blk-- }
	   :: now >= MAXT -> goto done
	   fi;
#ifdef WCRASH
	   if :: skip :: atomic { me == 0 && crashes == 0 -> crashes++; awake--; dead_[me] = 1 }; goto done fi;
#endif
cont:	   skip
	od;
	t = now;
#ifdef HCRASH
	if :: skip :: atomic { crashes == 0 -> crashes++ }; goto done fi;
#endif
	if :: d = 1 :: d = L-1 :: d = L+1 fi; (now >= t+d || now >= MAXT);   /* hold short, nearly the lease, or overrun */
	release(me);
done:	skip
}
proctype barger(byte me) {
	byte w = 0; byte t; byte d; bit got;
	if :: d = 0 :: d = 1 :: d = 2 :: d = 3 :: d = 4 :: d = 5 :: d = 6 fi; (now >= d);
	atomic { if :: FREE -> own = me+1; lexp = now + L; got = 1 :: else -> got = 0 fi };
	t = now;
	if :: !got -> goto done :: else fi;
#ifdef HCRASH
	if :: skip :: atomic { crashes == 0 -> crashes++ }; goto done fi;
#endif
	if :: d = 1 :: d = L-1 fi; (now >= t+d || now >= MAXT);
	release(me);
done:	skip
}
init { atomic { byte i = 0; do :: i < NW -> run waiter(i); i++ :: i >= NW && i < NP -> run barger(i); i++ :: i >= NP -> break od } }
