// The official JavaScript client against the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";
import { server } from "optimist-server";

const namespace = "default";
const body = { metadata: { name: "settings" }, data: { colour: "blue" } };

async function withServer(act) {
  const running = await server();
  try {
    const config = new KubeConfig();
    config.loadFromFile(running.kubeconfig);
    await act(config.makeApiClient(CoreV1Api), config);
  } finally {
    await running.stop();
  }
}

test("the second of two writers gets a conflict", () =>
  withServer(async (core) => {
    const name = "settings";
    await core.createNamespacedConfigMap({ namespace, body });
    const mine = await core.readNamespacedConfigMap({ name, namespace });
    const yours = await core.readNamespacedConfigMap({ name, namespace });
    mine.data.colour = "red";
    await core.replaceNamespacedConfigMap({ name, namespace, body: mine });
    const refused = core.replaceNamespacedConfigMap({ name, namespace, body: yours });
    await assert.rejects(refused, (error) => error.code === 409);
  }));

test("a watch shows what others write", () =>
  withServer(async (core, config) => {
    const seen = new Promise((resolve, reject) => {
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const event = (type, object) => {
        if (object.metadata.name === "settings") resolve(type);
      };
      const watching = new Watch(config).watch(path, {}, event, (error) => error && reject(error));
      watching.then(() => core.createNamespacedConfigMap({ namespace, body })).catch(reject);
    });
    assert.equal(await seen, "ADDED");
  }));

test("a server that does not start is an error", async () => {
  await assert.rejects(server("--objects", "nowhere.yaml"), /code 2/);
});
