/* M2b: what the repair of ladder::timeout_lock is for. The holder died after SETNX (MODE 0: no TTL) or after EXPIRE (MODE 1);
 * one waiter polls. Does it ever get the lock? (asserted at the horizon)
 * REPAIR    0: none; 1: EXPIRE where TTL is -1 (the book's later code, and the ladder); 3: where TTL is 0 or -1 */
#ifndef T
#define T 3
#endif
#define MAXT 40
byte own = 1; short ttl; byte now = 0; byte got = 0; byte half = 0;
/* time in half seconds: TTL answers (ms + 500) / 1000, which is 0 for the last 499 ms */
init {
#if MODE==0
	ttl = -1;
#else
	ttl = 2*T;
#endif
	do
	:: now == MAXT -> break
	:: else ->
	   d_step { now++; if :: own != 0 && ttl > 0 -> ttl--; if :: ttl == 0 -> own = 0; ttl = -1 :: else fi :: else fi };
	   /* the waiter's poll */
	   if
	   :: own == 0 -> own = 2; got = 1; break
	   :: else ->
#if REPAIR==1
	      if :: ttl == -1 -> ttl = 2*T :: else fi
#elif REPAIR==3
	      /* looked at between two marks: one half that is left reads 0 */
	      if :: ttl == -1 || ttl <= 1 -> ttl = 2*T :: else fi
#else
	      skip
#endif
	   fi
	od;
	assert(got == 1)
}
