# Handles the events of invalid tokens and finished jobs of the app demo:
#     REDIS_URL=redis://127.0.0.1:6379 python3 events.py
# Needs the package redis (Debian: python3-redis). Your program must store `last`, to continue there after a restart.
import os

import redis

farm = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"), decode_responses=True)
last = "0"  # all events that Redis still has
while True:
    for _, entries in farm.xread({"{pushfarm:demo}:events": last}, block=0):
        for last, event in entries:
            if event["type"] == "token.invalid":
                print("delete", event["token"])
            elif event["type"] == "job.finished":
                print(event["job"], event["delivered"], "of", event["accepted"])
