"""Trace the job that waited longest: what for, and what happened around it."""

import holdfast

result = holdfast.run(holdfast.example("cluster"))
jobs = result.jobs.sort("waited", descending=True)
name, submitted, started, completed = jobs.select("job", "submitted", "started", "completed").row(0)
print(f"{name} waited {(started - submitted) / 3600:.1f} h\n")
print(result.trace(name))

title = f"{name} waits over the middle half of this picture"
length = started - submitted
window = holdfast.Framing(title, since=submitted - length / 2, until=started + length / 2)
result.plot("queue", "one_job.svg", window)
