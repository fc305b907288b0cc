/* M7: waiting without polling (src/waiting.cpp, acquire_mutex.lua, release_mutex.lua; semaphore_wakes.lua with LIMIT > 1).
 * acquire, one script: free -> take; else set the mark (flag). Then BLPOP on the wake list: toks wake-ups lie in it, bq are the
 * blocked clients in order. release, one script: give back, and push a wake-up under a condition. No timers here.
 * Checks: mon_lost: never does a live waiter sleep while a permit is free and there is no wake-up in the list, none on its way,
 * and nobody awake; and no waiter sleeps for ever (invalid end state).
 * PROTO  0: push if marked and the list is empty; the mark stays (tranca::mutex)
 *        1: as 0, but a push deletes the mark
 *        2: as 1, and a woken waiter sets the mark again when it acquires
 *        3: push if the list is empty, without a mark
 *        4: push if marked, whatever lies in the list
 *        5: publish to those subscribed by now; a waiter subscribes after the attempt in vain
 *        6: subscribe, try again, then wait; publish wakes all
 *        7: as 0, but the mark is set by a second command
 *        8: push if marked and fewer wake-ups lie there than permits are free (tranca::semaphore)
 *        9: as 0, and an acquirer that leaves permits free pushes on (the semaphore does that too, by the rule of 8)
 * CANCEL waiter 0 may give up, asleep or just woken.  NUDGE: then it runs the release script, which hands the wake-up on
 * CRASH  waiter 0 may die after it was woken.  CRASHB: while it sleeps, and the server sees it.  HALFOPEN: and it does not
 * HCRASH a holder may die.  LAPSE: a lease may lapse while its holder lives
 * FLAGEXP, TOKEXP  the mark, the wake list may expire at any time */
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef NW
#define NW 2
#endif
#ifndef NB
#define NB 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NP (NW+NB)
byte free = LIMIT; bit own[NP];
bit flag = 0; byte toks = 0;
bit served[NW]; bit sub[NW];
chan bq = [NW] of { byte };
bit dead_[NW];          /* waiter process has died */
byte blk = 0;           /* live waiters blocked (BLPOP or subscribed and waiting) */
byte awake = 0;         /* woken waiters that have not asked again yet */

inline push() {
	if
	:: len(bq) > 0 -> bq ? w; served[w] = 1; w = 0
	:: else -> toks++
	fi
}
inline pushcond() {
#if PROTO==0 || PROTO==7 || PROTO==9
	if :: flag && toks == 0 -> push() :: else fi
#elif PROTO==1 || PROTO==2
	if :: flag && toks == 0 -> flag = 0; push() :: else fi
#elif PROTO==3
	if :: toks == 0 -> push() :: else fi
#elif PROTO==4
	if :: flag -> push() :: else fi
#elif PROTO==5 || PROTO==6
	w = 0; do :: w < NW -> if :: sub[w] -> served[w] = 1 :: else fi; w++ :: else -> w = 0; break od
#elif PROTO==8
	if :: flag && toks < free -> push() :: else fi
#endif
}
inline chainpush() {
#if PROTO==9
	if :: free > 0 && flag && toks == 0 -> push() :: else fi
#else
	skip
#endif
}
inline release(i) {
	atomic {
	  if :: own[i] -> own[i] = 0; free++; pushcond() :: else fi
	}
}
#ifdef FLAGEXP
active proctype fexp() { end: do :: atomic { flag -> flag = 0 } od }
#endif
#ifdef TOKEXP
active proctype texp() { end: atomic { toks > 0 -> toks = 0 } }
#endif
#ifdef LAPSE
active proctype lapse() {
	end: if
	:: atomic { own[0] -> own[0] = 0; free++ }
	:: atomic { own[1] -> own[1] = 0; free++ }
#if NP>2
	:: atomic { own[2] -> own[2] = 0; free++ }
#endif
	fi
}
#endif

proctype waiter(byte me) {
	byte w = 0; bit got; bit woken; byte rounds = ROUNDS;
again:	woken = 0;
	do
	:: atomic {
	     if :: woken -> awake-- :: else fi;
	     if
	     :: free > 0 -> free--; own[me] = 1; got = 1;
#if PROTO==2
	        if :: woken -> flag = 1 :: else fi;
#endif
	        chainpush()
	     :: else -> got = 0;
#if PROTO!=7 && PROTO!=3
	        flag = 1
#else
	        skip
#endif
	     fi;
	     if :: !got -> woken = 0 :: else fi };
	   if :: got -> break :: else fi;
#if PROTO==7
	   flag = 1;
#endif
#if PROTO==5
	   atomic { sub[me] = 1; blk++ };
#elif PROTO==6
	   if
	   :: !sub[me] -> atomic { sub[me] = 1; woken = 1; awake++ }; goto cont  /* subscribe, then try once more */
	   :: else -> blk++
	   fi;
#else
	   atomic { blk++; if :: toks > 0 -> toks--; served[me] = 1 :: else -> bq ! me fi };
#endif
	   /* blocked */
	   if
	   :: atomic { served[me] -> served[me] = 0; woken = 1; awake++; blk-- }
#ifdef CANCEL
	   :: atomic { me == 0 && !served[me] -> if :: bq ?? eval(me) :: else fi; blk-- }; goto giveup
#endif
#ifdef CRASHB
	   :: atomic { me == 0 && !served[me] -> if :: bq ?? eval(me) :: else fi; blk-- }; goto dead   /* server saw the close */
#endif
#ifdef HALFOPEN
	   :: atomic { me == 0 -> blk--; dead_[me] = 1 }; goto dead       /* half-open: a token may still be sent to it */
#endif
	   fi;
#ifdef CRASH
	   if :: skip :: atomic { me == 0 -> awake--; dead_[me] = 1 }; goto dead fi;
#endif
#ifdef CANCEL
	   if :: skip :: me == 0 -> goto giveup2 fi;
#endif
cont:	   skip
	od;
	sub[me] = 0;
#ifdef HCRASH
	if :: skip :: atomic { me == 0 -> own[me] = 0; free++ }; goto dead fi;    /* lease lapses silently */
#endif
	release(me);
	rounds--;
	if :: rounds > 0 -> goto again :: else -> goto done fi;
giveup2:
#ifdef NUDGE
	atomic { awake--; if :: free > 0 && flag && toks == 0 -> push() :: else fi };
#else
	awake--;
#endif
giveup:	sub[me] = 0;
	goto done;
dead:	skip;
done:	skip
}
proctype barger(byte me) {          /* try-lock client; may never come */
	byte w = 0; bit got;
	if :: skip :: goto done fi;
	atomic { if :: free > 0 -> free--; own[me] = 1; got = 1; chainpush() :: else -> got = 0 fi };
	if
	:: got ->
#ifdef HCRASH
	   if :: skip :: atomic { own[me] = 0; free++ }; goto done fi;
#endif
	   release(me)
	:: else
	fi;
done:	skip
}
#if NW==2
#define SERVED ((served[0] && !dead_[0]) || (served[1] && !dead_[1]))
#elif NW==3
#define SERVED ((served[0] && !dead_[0]) || (served[1] && !dead_[1]) || (served[2] && !dead_[2]))
#else
#define SERVED ((served[0] && !dead_[0]) || (served[1] && !dead_[1]) || (served[2] && !dead_[2]) || (served[3] && !dead_[3]))
#endif
/* a live waiter sleeps, a permit is free, and nothing is on its way to fix it */
#define LOST (blk > 0 && free > 0 && toks == 0 && awake == 0 && !SERVED)
#ifndef NOMON
active proctype mon_lost() { end: atomic { LOST -> assert(0) } }
#endif
#ifdef TOKBOUND
active proctype mon() { end: atomic { toks > TOKBOUND -> assert(0) } }
#endif
init { atomic { byte i = 0; do :: i < NW -> run waiter(i); i++ :: i >= NW && i < NP -> run barger(i); i++ :: i >= NP -> break od } }
