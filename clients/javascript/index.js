// A Kubernetes API server for tests:
//
//     import { server } from "optimist-server";
//     const running = await server();
//     config.loadFromFile(running.kubeconfig);
//     await running.stop();
//
// The program `optimist` is in the package, or must be on the PATH; the variable OPTIMIST can name another one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The program: that of the variable OPTIMIST, else the one in the package, else the one on the PATH. */
function program() {
  const name = process.platform === "win32" ? "optimist.exe" : "optimist";
  const packaged = fileURLToPath(new URL(`./bin/${name}`, import.meta.url));
  return process.env.OPTIMIST || (existsSync(packaged) ? packaged : "optimist");
}

/**
 * Starts a server. The arguments are those of `optimist serve`, such as "--objects", "objects.yaml".
 * Gives its `url`, the path of its `kubeconfig`, and `stop()`. Rejects if it does not start.
 */
export async function server(...args) {
  const child = spawn(program(), ["serve", "--output", "json", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(`code ${code}`));
  });
  const lines = createInterface({ input: child.stdout });
  const ready = once(lines, "line").then(([line]) => ({ line }));
  const first = await Promise.race([ready, ended.then((why) => ({ why }))]);
  if (first.line === undefined) {
    throw new Error(`optimist serve ended with ${first.why}`);
  }
  const { url, kubeconfig } = JSON.parse(first.line);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { url, kubeconfig, stop };
}
