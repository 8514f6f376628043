// The package as Node has it: plain objects go in and come out. `packages/engine/pack.sh` runs it.
"use strict";
const assert = require("node:assert");
const test = require("node:test");
const { owners, predict, explain } = require("optimist-engine");

const manager = (name, operation, path) => ({
  manager: name,
  operation,
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:data": { [`f:${path}`]: {} } },
});

const settings = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "settings",
    namespace: "default",
    uid: "11111111-2222-3333-4444-555555555555",
    resourceVersion: "7",
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields: [manager("helm", "Apply", "color"), manager("kubectl-edit", "Update", "size")],
  },
  data: { color: "blue", size: "5" },
};

const manifest = (data) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "default" },
  data,
});

test("every value has its owners, and no value is told", () => {
  const { object, managers, fields } = owners(settings);
  assert.match(object, /settings/);
  assert.deepStrictEqual(managers.map((it) => it.name), ["helm", "kubectl-edit"]);
  const owned = (pointer) => fields.find((it) => it.pointer === pointer).owners;
  assert.deepStrictEqual([owned("/data/color"), owned("/data/size")], [[0], [1]]);
  assert.ok(!JSON.stringify(fields).includes("blue"));
});

test("an apply meets the owner of a field that it changes, and no other", () => {
  const write = { tool: "kubectl-server-side", manager: "me", manifest: manifest({ size: "6" }) };
  const refused = predict(settings, write);
  assert.strictEqual(refused.outcome, "conflict");
  assert.strictEqual(refused.code, 409);
  const conflict = refused.fields.find((it) => it.refusedBy);
  assert.match(conflict.refusedBy[0], /kubectl-edit/);
  assert.strictEqual(predict(settings, { ...write, force: true }).outcome, "changed");
  assert.strictEqual(predict(null, write).outcome, "created");
});

test("a message of kubectl is explained", () => {
  const { errors, markdown } = explain(
    'Operation cannot be fulfilled on configmaps "settings": the object has been modified; ' +
      "please apply your changes to the latest version and try again",
  );
  assert.strictEqual(errors[0].kind, "modified");
  assert.strictEqual(errors[0].object.name, "settings");
  assert.ok(markdown.length > 100);
});

test("a wrong argument throws an error that says what is wrong", () => {
  assert.throws(() => owners({ kind: "ConfigMap" }), /apiVersion/);
  assert.throws(() => predict(settings, { tool: "make", manifest: settings }), /write\.tool/);
  assert.throws(() => explain("all is well"), Error);
});
