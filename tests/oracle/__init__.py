"""An independent simulator of the one world's rules (rules.md), written from the rules alone.

It knows nothing of actors/, policies/ and sims/: the real one world is held against it, on random
scenarios (`python -m tests.oracle`). It computes in exact fractions, and is slow and plain.

Doubts of the rules, and the readings taken:

Orders of the lists
 1. Runs by job, run; checkpoints by job, run, end; messages by first start, worker. A message that
    never had a channel is not told; a checkpoint of a copy is, also where the master's is further.
Instants
 2. A verification of length 0 ends and draws from the list, like any other.
 3. A part of length 0 is passed at once, also while a member is RECLAIMED (its recovery of 0 is
    then over, and the hits are forgotten).
 4. A checkpoint of the master is complete with its last message, also when another member, that
    has sent its own, is RECLAIMED then.
 5. A recovery that ends at t is over before a DOWN at t, which is thus the first since; a
    verification that fails at t comes before a DOWN at t, which counts though no run is under way.
 6. A withdrawn copy draws nothing, also if its verification ends at that instant.
Workers
 7. A fault on a DOWN worker neither strikes nor prolongs; at the first instant of an owner's DOWN
    it changes nothing; at the very end of a DOWN it makes that one longer. It strikes a RECLAIMED
    worker.
Clones and images
 8. "Nothing when there is none": also when the furthest has done no work: no delay, no image.
 9. Furthest: of equals the first. A run counts whatever part it is in; a copy whose kept processors
    are without a run does not; a kept run that starts at (4) does, with its checkpoint's work.
10. The clone of a run in its final verification has all the work: it fetches, then verifies.
11. Of a further image and a clone the further is taken; of equals the clone.
12. The master's image is replaced by one strictly further.
13. The period of a run that begins from w counts from w, not in multiples.
14. Without cloning a further copy, too, begins from the saved image.
15. The first to be placed of a job without runs under way is no clone: it continues from the image
    after `recovery`; a clone of it, placed at the same instant, spends `delay`.
16. Each member fetches, and sends, the whole image; so does one that has no task, which needs the
    program too, but no data.
17. An image of an iteration stands for the fraction of the run's own work.
18. An unverified failure discards the master's image (or this copy's checkpoint); a run that has
    begun from it, or is fetching it, goes on, and what it saves later is kept again.
Buddies
19. A cloned copy that goes back before its own first checkpoint starts from scratch.
20. A kept copy counts as one of the `copies` while it waits; its job is not in the queue.
21. Whoever went DOWN lacks program and data; of the others' data the complete units are held, the
    partial message is dropped and begins again.
22. Hits are forgotten when a recovery is over, not when the run starts. Fatal: the checkpoint is
    lost at once, the processors stay.
Iterations
23. The list of failures goes on from one iteration to the next.
24. The next iteration may start at the instant at which the last one ended.
Ledger
25. Useful is a run's computing up to the state's work, through chains of any length; a run that was
    withdrawn or lost keeps its share where a clone or image of it completed the job.
Practitioners' mechanisms
26. Notices of one instant are heard by job, then run number; a verification of length 0 that they
    bring about ends at once, and its failure comes before kept processors start again.
27. A message of a worker that a fault strikes at the instant at which it is RECLAIMED keeps its
    channel.
28. Of several faults of a worker that has not been UP between them, the first is heard, and known
    for P10, unless a later one is known at once.
29. Jobs whose newcomers complete them at one decision start by job, then placement, after all have
    been placed; who is replaced in P10's order is the lowest worker, whatever its job.
30. What kept members begin from the copy's image is the buddies' checkpoint from the end of the
    recovery; a fault before that lets them fetch it again.

Fleets
31. Of several faults of a worker at one instant the longest DOWN counts, and the earliest time at
    which one is heard; of several hangs of a run at one instant that of the first law, then of the
    lowest worker.
32. The clock of computing time rests at speed 0 (nothing is computed then).
33. A fault changes nothing where all workers of its unit are in repair, be it of units of another
    kind; one that meets unheard faults of these workers is heard with them. Crews take, of equals,
    workers before nodes before racks. Faults known at one instant are blamed by law, then unit,
    those too that the end of their run makes known.
34. The rule faults-within reads the record of a unit's lowest worker, the score the lowest one.
35. Buddies load from shared storage only where P9 fetches images; a clone of theirs costs `delay`.
36. A replica loads its share of the bytes whatever its run's pauses.

Left open
37. A shared program of different sizes (here: whoever fetches it takes his own job's), `delay` with
    a master (here: not spent), jobs of more processors than workers (here: Stuck in the end).
"""
