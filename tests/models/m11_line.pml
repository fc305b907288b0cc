/* M11: the line of those who wait with fairness::on (src/lua/queue.lua, acquire_fair_mutex.lua, release_fair_mutex.lua;
 * waiter::block_then_ask in src/waiting.cpp). Each waiter has a number, a sign of life (seen) and a wake list of its own.
 *
 * acquire (one script): drop from the head whoever is silent; free and mine is the turn -> leave the line, take;
 *                       else line up, or stay where I am, and be seen.
 * release (one script): leave the line; if the lock is mine or free, free it and call up the first.
 * A waiter sleeps on its own list and asks when it is woken. One that gives up runs the release script.
 *
 * Checks: at most one in; in the order of arrival, whoever just tries included; nothing is granted to one that is silent;
 * and without TIMED or TIMERS: never is the lock free and the first asleep with no call-up in its list and nobody awake.
 *
 * SILENT=n  so many waiters may fall silent for ever, asleep or woken; their sign of life lapses
 * CANCEL    waiter 0 may give up, asleep or woken
 * LAPSE     the holder's lease may lapse in silence
 * TIMERS    a sleeper may look again whenever it likes (then it cannot be asked whether one sleeps in vain)
 * TIMED     with a clock (it ticks when nobody else can move): a sign of life lasts W ticks, a sleeper looks again after
 *           min(what it was told, W/2) ticks, a holder may die, its lease lasts L. Asserts: the lock is free with a live
 *           waiter asleep for no more than BOUND ticks.
 * Clauses left out:
 * NOTURN    who comes takes a free lock, whoever is first
 * NOCALL    a release calls nobody up
 * NOLEAVE   who gives up runs no script
 * KEEPDEAD  the silent ones stay in the line
 * ONELIST   one list for all
 * PIPED     a sleeper's next acquire is sent with its BLPOP, so that the server runs it also for one that is silent       */
#ifndef NW
#define NW 3
#endif
#ifndef NB
#define NB 1
#endif
#ifndef SILENT
#define SILENT 0
#endif
#ifndef W
#define W 4
#endif
#ifndef L
#define L 6
#endif
#ifndef MAXT
#define MAXT 16
#endif
#ifndef BOUND
#define BOUND W
#endif
#define NONE 255
#ifdef ONELIST
#define LIST(i) list[0]
#else
#define LIST(i) list[i]
#endif

byte owner = 0;                     /* 0: free; else waiter + 1, or NW + barger + 1 */
byte num[NW];                       /* place in the line; 0: not in it */
byte seen[NW];                      /* sign of life; TIMED: until when */
byte list[NW];                      /* call-ups */
bit asleep[NW]; bit silent[NW];
byte awake = 0, silences = 0, in = 0;
byte arrival[NW]; byte arrivals = 0;    /* what the line is to keep, written down apart from it */
byte now = 0, until = 0;            /* TIMED: the clock, the end of the holder's lease */
#ifdef TIMED
byte wakes_at[NW]; byte lostfor = 0; byte crashes = 0;
#define IS_SEEN(i) (now < seen[i])
#define FREE (owner == 0 || now >= until)
#else
#define IS_SEEN(i) (seen[i])
#define FREE (owner == 0)
#endif

#ifdef ONELIST
inline leave_line(i) { num[i] = 0; seen[i] = 0 }
#else
inline leave_line(i) { num[i] = 0; seen[i] = 0; LIST(i) = 0 }
#endif
inline first_in_line() {
	do
	:: f = NONE; k = 0;
	   do
	   :: k < NW -> if :: num[k] != 0 && (f == NONE || num[k] < num[f]) -> f = k :: else fi; k++
	   :: else -> break
	   od;
	   if
	   :: f == NONE -> break
#ifdef KEEPDEAD
	   :: else -> break
#else
	   :: f != NONE && IS_SEEN(f) -> break
	   :: else -> leave_line(f)
#endif
	   fi
	od
}
inline line_up(i) {
	if
	:: num[i] == 0 ->
	   f1 = 0; k = 0;
	   do :: k < NW -> if :: num[k] > f1 -> f1 = num[k] :: else fi; k++ :: else -> break od;
	   num[i] = f1 + 1; arrivals++; arrival[i] = arrivals; f1 = 0
	:: else
	fi;
#ifdef TIMED
	seen[i] = now + W
#else
	seen[i] = 1
#endif
}
/* whoever arrived earlier and is still there has been passed over */
inline in_order(i) {
	k = 0;
	do
	:: k < NW -> assert(k == i || arrival[k] == 0 || silent[k] || (i < NW && arrival[i] != 0 && arrival[i] < arrival[k])); k++
	:: else -> break
	od
}
inline take(who) {
	owner = who + 1; until = now + L; in_order(who)
}
inline call_up(i) {
#ifndef NOCALL
	LIST(i) = 1
#else
	skip
#endif
}
/* the release script, with the token of `who` */
inline release(who) {
	if :: who < NW -> leave_line(who); arrival[who] = 0 :: else fi;
	if
	:: owner == who + 1 || FREE -> owner = 0; first_in_line(); if :: f != NONE -> call_up(f) :: else fi
	:: else
	fi;
	f = 0; k = 0
}
inline enter() { in++; assert(in <= 1) }

proctype waiter(byte me) {
	byte f = 0, f1 = 0, k = 0, t = 0; bit got = 0, woken = 0;
ask:	atomic {
	  if :: woken -> awake-- ; woken = 0 :: else fi;
	  first_in_line();
	  if
#ifdef NOTURN
	  :: FREE -> leave_line(me); take(me); arrival[me] = 0; got = 1
#else
	  :: FREE && (f == NONE || f == me) -> leave_line(me); take(me); arrival[me] = 0; got = 1
#endif
	  :: else -> 
	     line_up(me);
#ifdef TIMED
	     t = W / 2;
	     if
	     :: f == NONE || f == me -> if :: until > now && until - now < t -> t = until - now :: else fi
	     :: else -> if :: seen[f] > now && seen[f] - now < t -> t = seen[f] - now :: else fi
	     fi;
	     wakes_at[me] = now + t; t = 0;
#endif
	     asleep[me] = 1
	  fi; f = 0; k = 0 }
	if :: got -> goto holds :: else fi;
	if
	:: atomic { !silent[me] && LIST(me) > 0 -> LIST(me) = 0; asleep[me] = 0; woken = 1; awake++ }
#ifdef TIMERS
	:: atomic { asleep[me] = 0; woken = 1; awake++ }
#endif
#ifdef TIMED
	:: atomic { now >= wakes_at[me] -> asleep[me] = 0; woken = 1; awake++ }
	:: now >= MAXT -> goto done
#endif
#ifdef CANCEL
	:: atomic { me == 0 -> asleep[me] = 0; awake++ }; goto gives_up
#endif
#if SILENT>0
	:: atomic { silences < SILENT -> silences++; asleep[me] = 0; silent[me] = 1 }; goto falls_silent
#endif
	fi;
	if
	:: goto ask
#ifdef CANCEL
	:: me == 0 -> goto gives_up
#endif
#if SILENT>0
	:: atomic { silences < SILENT -> silences++; awake--; woken = 0; silent[me] = 1 }; goto falls_silent
#endif
	fi;
holds:	enter();
#ifdef TIMED
	t = now + 1; (now >= t || now >= MAXT); t = 0;
	if
	:: skip
	:: atomic { crashes == 0 && SILENT > 0 -> crashes++; in-- }; goto done     /* no release: the lease runs out */
	fi;
#endif
#ifdef LAPSE
	if :: skip :: atomic { owner = 0; in-- }; goto done fi;
#endif
	atomic { in--; release(me) };
	goto done;
gives_up:
#ifndef NOLEAVE
	atomic { release(me); awake-- };
#else
	atomic { arrival[me] = 0; awake-- };
#endif
	goto done;
#if SILENT>0
falls_silent:
#ifdef PIPED
	/* what it sent before is run by the server when its turn comes */
	if
	:: atomic { LIST(me) > 0 -> LIST(me) = 0; first_in_line();
	     if :: FREE && (f == NONE || f == me) -> assert(!silent[me]) :: else fi; f = 0; k = 0 }
	:: atomic { !IS_SEEN(me) -> skip }
	fi;
#endif
#ifndef TIMED
	/* at some time it is taken for dead */
	atomic { seen[me] = 0 };
#endif
#endif
done:	skip
}
/* tries once, whenever it likes */
proctype barger(byte me) {
	byte f = 0, k = 0; bit got = 0;
	if :: skip :: goto done fi;
	atomic { first_in_line();
	  if
#ifdef NOTURN
	  :: FREE -> take(me); got = 1
#else
	  :: FREE && f == NONE -> take(me); got = 1
#endif
	  :: else
	  fi; f = 0; k = 0 };
	if :: got -> enter(); atomic { in--; release(me) } :: else fi;
done:	skip
}
#if NW==2
#define ANY(what) (what(0) || what(1))
#else
#define ANY(what) (what(0) || what(1) || what(2))
#endif
#define SLEEPS(i) (asleep[i] && !silent[i])
#define CALLED(i) (asleep[i] && !silent[i] && LIST(i) > 0)
#define LOST (FREE && ANY(SLEEPS) && !ANY(CALLED) && awake == 0)
#ifdef TIMED
active proctype clk() {
	do
	:: timeout -> atomic {
	     if :: now >= MAXT -> break :: else fi;
	     if :: LOST -> lostfor++ :: else -> lostfor = 0 fi;
	     assert(lostfor <= BOUND);
	     now++ }
	od
}
#elif !defined(TIMERS)
active proctype monitor() { end: atomic { LOST -> assert(0) } }
#endif
init { atomic { byte i = 0; do :: i < NW -> run waiter(i); i++ :: i >= NW && i < NW + NB -> run barger(i); i++ :: else -> break od } }
