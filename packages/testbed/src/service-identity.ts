import { createPrivateKey, sign } from "node:crypto";
import { newServiceKey } from "@toolgate/service-host/identity/service-keys";
import type { ServiceTokens } from "@toolgate/service-host/identity/service-token";
import { CALLING_SERVICES, SERVICE_NAMES, type ServiceName } from "@toolgate/service-registry/services";

type TestKeys = Readonly<Record<ServiceName, { serviceKey: string; publicKey: string }>>;

const LIFE_S = 86_400;
let keys: TestKeys | undefined;

/** The identity of each service in this test, made once per process. */
export function testServiceKeys(): TestKeys {
  keys ??= Object.fromEntries(SERVICE_NAMES.map((name) => [name, newServiceKey()])) as unknown as TestKeys;
  return keys;
}

/** SERVICE_PUBLIC_KEYS with the public keys of all services. */
export function testPublicKeys(): string {
  return CALLING_SERVICES.map((name) => `${name}:${testServiceKeys()[name].publicKey}`).join(",");
}

/** What a process of the service needs in its environment to call the others and be called. */
export function identityEnv(name: ServiceName): { SERVICE_KEY: string; SERVICE_PUBLIC_KEYS: string } {
  return { SERVICE_KEY: testServiceKeys()[name].serviceKey, SERVICE_PUBLIC_KEYS: testPublicKeys() };
}

/** A token in which everything can be chosen; valid for a day, so that no test depends on its speed. */
export function serviceToken(
  caller: ServiceName,
  called: string,
  {
    serviceKey = testServiceKeys()[caller].serviceKey,
    ...change
  }: { serviceKey?: string; [claim: string]: unknown } = {},
): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: caller, aud: called, exp: Math.floor(Date.now() / 1_000) + LIFE_S, ...change };
  const text = `${part({ alg: "EdDSA", typ: "toolgate-service+jwt" })}.${part(claims)}`;
  const key = createPrivateKey({ key: Buffer.from(serviceKey, "base64"), format: "der", type: "pkcs8" });
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}

/** The tokens of a service, as `remotePeers` takes them. */
export function testTokens(caller: ServiceName): ServiceTokens {
  return async (called) => serviceToken(caller, called);
}
