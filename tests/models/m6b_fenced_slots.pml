/* M6b: the fences of a semaphore. LIMIT slots, each lease may lapse at any time.
 * MODE   0: the resource keeps one largest fence: a holder in the right is refused
 *        1: one for each slot (what guard::slot() is for)
 * Checks: nobody is refused whose slot was not granted again. */
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef N
#define N 3
#endif
byte slot[LIMIT]; byte ctr = 0; byte mx[LIMIT]; byte gen[LIMIT];
#if LIMIT==2
active proctype lapse() { end: do :: atomic { slot[0] != 0 -> slot[0] = 0 } :: atomic { slot[1] != 0 -> slot[1] = 0 } od }
#endif
proctype client(byte me) {
	byte s, tok; bit ok; byte w = 2; byte rounds = 2;
again:	atomic { (slot[0] == 0 || slot[1] == 0) -> if :: slot[0] == 0 -> s = 0 :: else -> s = 1 fi;
	  slot[s] = me + 1; ctr++; tok = ctr; gen[s] = tok };
	w = 2;
	do :: w > 0 -> w--;
	   atomic {
#if MODE==0
	     if :: tok >= mx[0] -> mx[0] = tok; ok = 1 :: else -> ok = 0 fi;
	     assert(ok || slot[s] != me + 1)        /* a holder with a live permit is not rejected */
#else
	     if :: tok >= mx[s] -> mx[s] = tok; ok = 1 :: else -> ok = 0 fi;
	     assert(ok || gen[s] != tok)            /* rejected only if the slot was granted again */
#endif
	   }
	:: else -> break
	od;
	atomic { if :: slot[s] == me + 1 && gen[s] == tok -> slot[s] = 0 :: else fi };
	rounds--; if :: rounds > 0 -> goto again :: else fi
}
init { atomic { byte i = 0; do :: i < N -> run client(i); i++ :: else -> break od } }
