/* M3: ladder::clock_semaphore, and the rule of tranca::semaphore that takes its place. LIMIT permits.
 * acquire: the client reads its clock (ts), then one transaction: remove the expired, ZADD ts, hold if ZRANK < LIMIT.
 * SKi    the offset of client i's clock
 * ATOM   ts is the server's clock, read inside one script
 * COUNT  decide by the count before adding, not by the rank after it (src/lua/semaphore_grant.lua: used + weight <= limit)
 * BACK   the server's clock may step back by one, once;  FWD: forward by one, once
 * A client believes until TIMEOUT (true time) after it sent the request. Equal scores are ordered by member, as in Redis.
 * Checks: no more believers than permits.
 * The semaphore keeps each holder's own end as the score, and renews it; here all have one TIMEOUT. */
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef N
#define N 2
#endif
#ifndef TIMEOUT
#define TIMEOUT 20
#endif
#ifndef MAXT
#define MAXT 3
#endif
#ifndef SK0
#define SK0 0
#endif
#ifndef SK1
#define SK1 0
#endif
#ifndef SK2
#define SK2 0
#endif
#define BASE 9
#define SK(i) (i==0 -> SK0 : (i==1 -> SK1 : SK2))
byte now = BASE;      /* true time */
byte srv = BASE;      /* server clock */
byte sc[N];           /* 0 = absent, else score */
byte until[N];        /* belief: holds while now < until */
byte nh;
#if N>2
inline count() { nh = (now < until[0]) + (now < until[1]) + (now < until[2]) }
#else
inline count() { nh = (now < until[0]) + (now < until[1]) }
#endif
active proctype clk() {
	do :: now < BASE+MAXT -> atomic { now++; srv++ } :: now >= BASE+MAXT -> break
#ifdef BACK
	:: srv == now && now > BASE -> srv--
#endif
#ifdef FWD
	:: srv == now -> srv++
#endif
	od }

proctype client(byte me) {
	byte ts; byte rank; byte j; byte rounds = 2; byte sent;
	do
	:: rounds == 0 -> break
	:: else -> rounds--;
#ifdef ATOM
	   sent = now;
	   atomic { ts = srv;
#else
	   atomic { ts = now + SK(me); sent = now };
	   atomic {
#endif
	     j = 0; do :: j < N -> if :: sc[j] != 0 && sc[j] + TIMEOUT <= ts -> sc[j] = 0 :: else fi; j++ :: else -> break od;
	     rank = 0; j = 0;
#ifdef COUNT
	     do :: j < N -> if :: sc[j] != 0 -> rank++ :: else fi; j++ :: else -> break od;
	     if :: rank < LIMIT -> sc[me] = ts :: else fi;
#else
	     sc[me] = ts;
	     do :: j < N -> if :: j != me && sc[j] != 0 && (sc[j] < ts || (sc[j] == ts && j < me)) -> rank++ :: else fi; j++ :: else -> break od;
#endif
	     if :: rank < LIMIT -> until[me] = sent + TIMEOUT; count(); assert(nh <= LIMIT) :: else fi;
	   };
	   if
	   :: rank < LIMIT -> until[me] = 0; sc[me] = 0      /* stop, then release */
	   :: else ->
#ifndef COUNT
	      sc[me] = 0
#else
	      skip
#endif
	   fi
	od
}
init { atomic { run client(0); run client(1);
#if N>2
	run client(2)
#endif
	} }
