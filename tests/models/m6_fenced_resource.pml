/* M6: what fenced_read.lua and fenced_write.lua are for. A lease that may lapse at any time, and a resource on which each client
 * does x := x + 1 in two steps while it believes that it holds.
 * FENCE  0: none; 1: the resource checks the fence on writes; 2: on reads and writes, and both raise it (tranca::fenced);
 *        3: the client asks the lock "still mine?" just before it writes; 5: no fence, the write compares the value it read
 * RESET  the counter of the fences is lost once
 * MX     also assert that two never believe at once
 * Checks: x is the number of acknowledged increments. */
#ifndef N
#define N 2
#endif
#ifndef FENCE
#define FENCE 0
#endif
byte lock = 0; byte ctr = 0;      /* lock server */
byte x = 0, mx = 0;               /* resource */
byte acks = 0, fin = 0, believe = 0;

active proctype lapse() { end: do :: atomic { lock != 0 -> lock = 0 } od }
#ifdef RESET
active proctype flush() { end: atomic { ctr > 0 -> ctr = 0; lock = 0 } }
#endif

proctype client(byte me) {
	byte tok, v; bit ok;
	atomic { lock == 0 -> lock = me + 1; ctr++; tok = ctr; believe++ };
#ifdef MX
	assert(believe <= 1);
#endif
	/* read */
	ok = 1;
	atomic {
#if FENCE==2
	  if :: tok >= mx -> mx = tok; v = x :: else -> ok = 0 fi
#else
	  v = x
#endif
	};
	if
	:: ok ->
	   /* here a client may be paused */
#if FENCE==3
	   if :: lock != me + 1 -> ok = 0 :: else fi;
#endif
	   if
	   :: ok ->
	     atomic {
#if FENCE==1 || FENCE==2
	       if :: tok >= mx -> mx = tok; x = v + 1; acks++ :: else -> ok = 0 fi
#elif FENCE==5
	       if :: x == v -> x = v + 1; acks++ :: else -> ok = 0 fi
#else
	       x = v + 1; acks++
#endif
	     }
	   :: else
	   fi
	:: else
	fi;
	atomic { believe--; if :: lock == me + 1 -> lock = 0 :: else fi };
	atomic { fin++; if :: fin == N -> assert(x == acks) :: else fi }
}
init { atomic { byte i = 0; do :: i < N -> run client(i); i++ :: else -> break od } }
