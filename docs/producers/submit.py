# Submits a job of the app demo, with the device tokens of the arguments:
#     REDIS_URL=redis://127.0.0.1:6379 python3 submit.py TOKEN...
# Needs the package redis (Debian: python3-redis).
import json
import os
import re
import sys
import time

import redis


# Returns "OK" or "DUPLICATE" after Redis has the job. Waits while the farm is busy or Redis cannot be reached.
def submit(farm, app, job):
    text = json.dumps(job)
    while True:
        try:
            status, number, reason = farm.fcall("pushfarm_submit", 1, f"pushfarm:{app}", text, job["id"])
        except redis.AuthenticationError:
            raise  # To redis-py a missing or wrong password is a ConnectionError, too.
        except (redis.ConnectionError, redis.TimeoutError):
            status, number = "BUSY", 1000
        except redis.ResponseError as error:
            if not re.search("maxmemory|read only|MISCONF", str(error)):
                raise
            status, number = "BUSY", 1000
        if status in ("OK", "DUPLICATE"):
            return status
        if status == "REFUSED":
            raise ValueError(reason)
        time.sleep(number / 1000)


farm = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"), decode_responses=True)
print(submit(farm, "demo", {"id": "order-4711", "tokens": sys.argv[1:], "payload": {"aps": {"alert": "Hello"}}}))
