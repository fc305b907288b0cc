/* M9: fences of a lock on N independent masters; each has a lock key lk[i] and a fence F[i].
 * No timing at all: any lock key may vanish at any moment, messages may be lost before or after they act, clients may stop
 * anywhere. Of successful acquisitions is asked: (U) fences are unique; (M) if A was complete before B began, B's is larger.
 * V 0  one phase: a master does F++, the fence is the largest granted
 *   1  and written back: on its own masters F := max(F, fence), by a majority
 *   2  as 1, but refused where F > fence
 *   3  phase 1 reads F; fence := max + 1; phase 2: if mine and F < fence then F := fence
 *   4  one round trip: the client proposes p; who grants and has F < p stores p and confirms; a majority of confirmations is
 *      enough, else fence := max + 1 and phase 2 as in 3. p is arbitrary in 1..PMAX (raise_quorum.lua)
 *   5  as 3 without the test of the owner in phase 2;  6: as 3, but F <= fence is accepted
 *   7  as 4, but F <= fence is accepted in phase 2
 * LOSS   one master forgets everything, once (LOSSQUIET: while no lock key exists and nobody asks: a delayed restart)
 * WB n   success needs n confirmations instead of a majority
 * HLC    the fence is also no smaller than the masters' clocks; SK: their skew; LOSSQUIET then waits for D ticks */
#ifndef N
#define N 3
#endif
#ifndef NC
#define NC 2
#endif
#ifndef R
#define R 1
#endif
#ifndef PMAX
#define PMAX 3
#endif
#ifndef WB
#define WB (N/2+1)
#endif
#ifndef SK
#define SK 0
#endif
#ifndef D
#define D 0
#endif
#ifndef CLKMAX
#define CLKMAX 5
#endif
#define MAJ (N/2+1)
#if V==4 || V==7
#define PROPOSES
#endif
#if V==6 || V==7
#define RAISES <=
#else
#define RAISES <
#endif
#define S(k) (seen & (1 << k))
#if N>3
#define LEFT (seen != 31)
#else
#define LEFT (seen != 7)
#endif
byte lk[N]; byte F[N];
byte maxdone = 0;             /* largest token of a completed acquisition */
int used = 0;                 /* bit set of tokens handed out */
byte running = 0; byte lost = 0;
#ifdef HLC
byte clk = 1; byte lastgrant = 0;
#define T(i) (clk + ((i) == 0 -> SK : 0))
active proctype ticker() { end: do :: clk < CLKMAX -> clk++ od }
#endif

#ifdef LOSSQUIET
active proctype expire() {      /* any key vanishes at any time */
	end: do
	:: atomic { lk[0] != 0 -> lk[0] = 0 }
	:: atomic { lk[1] != 0 -> lk[1] = 0 }
	:: atomic { lk[2] != 0 -> lk[2] = 0 }
#if N>3
	:: atomic { lk[3] != 0 -> lk[3] = 0 }
	:: atomic { lk[4] != 0 -> lk[4] = 0 }
#endif
	od
}
#define VANISH(i) skip
#else                           /* the same in fewer states: it vanishes when somebody comes to it */
#define VANISH(i) if :: lk[i] != 0 -> lk[i] = 0 :: skip fi
#endif
#ifdef LOSS
active proctype memloss() {
	end: if
#if N==3
	:: atomic { lost == 0 -> lost++; F[2] = 0; lk[2] = 0 }
#else
	:: atomic { lost == 0 -> lost++; F[2] = 0; lk[2] = 0 }
#endif
	fi
}
#endif
#if N>3
#define NOKEYS (lk[0]==0 && lk[1]==0 && lk[2]==0 && lk[3]==0 && lk[4]==0)
#else
#define NOKEYS (lk[0]==0 && lk[1]==0 && lk[2]==0)
#endif
#ifdef HLC
#define WAITED (lastgrant > 0 && clk >= lastgrant + D)
#else
#define WAITED (true)
#endif
#ifdef LOSSQUIET
active proctype memloss() {
	end: if
	:: atomic { running == 0 && NOKEYS && WAITED -> F[2] = 0; lk[2] = 0 }
	fi
}
#endif

proctype client(byte me) {
	byte id; byte r = 0; byte i; byte g; byte conf; byte tok; byte mx; byte floor; byte p;
	byte seen;
	do
	:: r == R -> break
	:: else ->
	   atomic { running++; id = me*R + r + 1; r++; g = 0; conf = 0; mx = 0; floor = maxdone; p = 0;
	     seen = 0; i = 0 };
#ifdef PROPOSES
	   if :: p = 1
#if PMAX>1
	      :: p = 2
#endif
#if PMAX>2
	      :: p = 3
#endif
#if PMAX>3
	      :: p = 4
#endif
	   fi;
#endif
	   /* phase 1: nodes in any order, each at most once; may skip (lost request) */
	   do
	   :: atomic { LEFT -> if :: !S(0) -> i = 0 :: !S(1) -> i = 1 :: !S(2) -> i = 2
#if N>3
	        :: !S(3) -> i = 3 :: !S(4) -> i = 4
#endif
	        fi; seen = seen | (1 << i);
	        VANISH(i);
	        if
	        :: lk[i] == 0 ->
	           lk[i] = id;
#ifdef HLC
	           lastgrant = clk;
#endif
#if V<=2
#ifdef HLC
	           F[i] = (F[i]+1 > T(i) -> F[i]+1 : T(i));
#else
	           F[i]++;
#endif
#endif
#ifdef PROPOSES
	           if :: p > F[i] -> F[i] = p;
	                 if :: conf++; g++; if :: F[i] > mx -> mx = F[i] :: else fi
	                    :: skip                              /* reply lost */
	                 fi
	              :: else ->
	                 if :: g++; if :: F[i] > mx -> mx = F[i] :: else fi
	                    :: skip
	                 fi
	           fi
#else
	           if
	           :: g++; if :: F[i] > mx -> mx = F[i] :: else fi
#ifdef HLC
	              ; if :: V > 2 && T(i) > mx + 1 -> mx = T(i) - 1 :: else fi
#endif
	           :: skip                                       /* reply lost */
	           fi
#endif
	        :: else
	        fi }
	   :: break
	   od;
	   if :: g < MAJ -> goto fail :: else fi;
#if V==0
	   tok = mx;
#else
#ifdef PROPOSES
	   if :: conf >= WB -> tok = p; goto success :: else fi;
#endif
	   /* phase 2 */
	   atomic { conf = 0;
#if V<=2
	   tok = mx;
#else
	   tok = mx + 1;
#endif
	   seen = 0; i = 0 };
	   do
	   :: atomic { LEFT -> if :: !S(0) -> i = 0 :: !S(1) -> i = 1 :: !S(2) -> i = 2
#if N>3
	        :: !S(3) -> i = 3 :: !S(4) -> i = 4
#endif
	        fi; seen = seen | (1 << i);
	        VANISH(i);
#if V==1
	        if :: lk[i] == id -> if :: F[i] < tok -> F[i] = tok :: else fi; conf++ :: else fi
#elif V==2
	        if :: lk[i] == id && F[i] <= tok -> F[i] = tok; conf++ :: else fi
#elif V==5
	        if :: F[i] < tok -> F[i] = tok; conf++ :: else fi
#else
	        if :: lk[i] == id && F[i] RAISES tok -> F[i] = tok; conf++ :: else fi
#endif
	        }
	   :: break
	   od;
	   if :: conf < WB -> goto fail :: else fi;
#endif
success:   atomic {
	     assert(tok > floor);               /* (M) real-time order */
#ifndef NOU
	     assert((used & (1 << tok)) == 0);  /* (U) uniqueness */
#endif
	     used = used | (1 << tok);
	     if :: tok > maxdone -> maxdone = tok :: else fi };
fail:	   atomic { running--; id = 0; i = 0; g = 0; conf = 0; tok = 0; mx = 0; floor = 0; p = 0; seen = 0 }
	od
}
init { atomic { byte c = 0; do :: c < NC -> run client(c); c++ :: else -> break od } }
