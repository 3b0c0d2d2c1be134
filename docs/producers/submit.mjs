// Submits a job of the app demo, with the device tokens of the arguments:
//     REDIS_URL=redis://127.0.0.1:6379 node submit.mjs TOKEN...
// Needs the package redis (Debian: node-redis).
import { createClient, ErrorReply } from "redis";

// Returns "OK" or "DUPLICATE" after Redis has the job. Waits while the farm is busy or Redis cannot be reached.
async function submit(farm, app, job) {
  const call = ["FCALL", "pushfarm_submit", "1", `pushfarm:${app}`, JSON.stringify(job), job.id];
  for (;;) {
    let [status, number, reason] = ["BUSY", 1000, ""];
    try {
      [status, number, reason] = await farm.sendCommand(call);
    } catch (error) {
      // Retries if Redis cannot write now, or if the connection is lost.
      if (error instanceof ErrorReply && !/^(OOM|LOADING|READONLY|MISCONF)/.test(error.message)) throw error;
    }
    if (status === "OK" || status === "DUPLICATE") return status;
    if (status === "REFUSED") throw new Error(reason);
    await new Promise((resolve) => setTimeout(resolve, number));
  }
}

const farm = createClient({ url: process.env.REDIS_URL ?? "redis://127.0.0.1:6379" });
farm.on("error", (error) => console.error(error.message));
await farm.connect();
const tokens = process.argv.slice(2);
console.log(await submit(farm, "demo", { id: "order-4711", tokens, payload: { aps: { alert: "Hello" } } }));
await farm.quit();
