import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { PROGRAMS, REPOSITORY } from "../src/paths.ts";
import { createNamespace, everythingIsReady, type Namespace } from "./cluster.ts";

const SCRIPT_TIMEOUT_MS = 280_000;

let namespace: Namespace;
beforeAll(async () => {
  namespace = await createNamespace();
});
afterAll(() => namespace[Symbol.asyncDispose]());

/** The part of the script for a trial cluster that does not need Docker and kind. */
async function install(): Promise<string> {
  const { kubeconfig, folder } = inject("cluster");
  const env = {
    ...process.env,
    PATH: [PROGRAMS, process.env.PATH].join(delimiter),
    KUBECONFIG: kubeconfig,
    NAMESPACE: namespace.name,
    FOLDER: join(folder, "trial"),
  };
  const script = join(REPOSITORY, "deploy/trial/install.sh");
  const { stdout } = await promisify(execFile)("sh", [script], { env, timeout: SCRIPT_TIMEOUT_MS });
  return stdout;
}

test("the script installs servers, Secrets and the chart where the restricted pod security standard is enforced", async () => {
  expect(await install()).toMatch(/STATUS: deployed.*Phase: +Succeeded/s);
  for (const server of ["postgres", "nats", "redis"]) {
    const deployment = await namespace.api.get(`/apis/apps/v1/namespaces/${namespace.name}/deployments/${server}`);
    expect(deployment.status.readyReplicas, server).toBe(1);
  }
  await everythingIsReady(namespace);
});

test("every Secret that a pod refers to is there, with the keys that it uses", async () => {
  const pods = await namespace.api.list(`/api/v1/namespaces/${namespace.name}/pods`);
  const secrets = await namespace.api.list(`/api/v1/namespaces/${namespace.name}/secrets`);
  const keys = new Map(secrets.map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]));
  let references = 0;
  for (const { metadata, spec } of pods) {
    for (const { env = [], envFrom = [] } of spec.containers) {
      for (const { secretRef } of envFrom) {
        if (!secretRef || secretRef.optional) continue;
        references += 1;
        expect(keys.has(secretRef.name), `${secretRef.name} of ${metadata.name}`).toBe(true);
      }
      for (const { valueFrom } of env) {
        const key = valueFrom?.secretKeyRef;
        if (!key || key.optional) continue;
        references += 1;
        expect(keys.get(key.name), `${key.name} of ${metadata.name}`).toContain(key.key);
      }
    }
    for (const { secret } of spec.volumes ?? []) {
      if (!secret || secret.optional) continue;
      references += 1;
      expect(keys.has(secret.secretName), `${secret.secretName} of ${metadata.name}`).toBe(true);
    }
  }
  expect(references).toBeGreaterThan(15);
});

test("a second run keeps the passwords and changes no Secret", async () => {
  const read = async () => {
    const secrets = await namespace.api.list(`/api/v1/namespaces/${namespace.name}/secrets`);
    return secrets.filter(({ type }) => type === "Opaque").map(({ metadata, data }) => [metadata.name, data]);
  };
  const before = await read();
  await install();
  expect(await read()).toEqual(before);
});
