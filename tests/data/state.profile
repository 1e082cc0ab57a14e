# made up: off from 2 to 5, on until 8, RECLAIMED (2) until 9, then on
% the whole repeats every 12 s
2.0 0
5.0 1
8.0 2
9.0 1
LOOPAFTER 3
