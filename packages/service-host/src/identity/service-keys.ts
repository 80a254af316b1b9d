import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { peersOf, SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { type Env, type EnvReader, readConfig } from "../env.ts";

/** The public keys of the services. While one gets another key, it has two. */
export type ServicePublicKeys = ReadonlyMap<ServiceName, readonly KeyObject[]>;

/** What a process proves with who it is, and what it knows others by. */
export interface IdentitySettings {
  /** Undefined in a process that calls no other service. */
  serviceKey: KeyObject | undefined;
  /** Empty in a process that serves no RPCs. */
  publicKeys: ServicePublicKeys;
}

/** A new key as SERVICE_KEY has it, and its public part as in SERVICE_PUBLIC_KEYS. */
export function newServiceKey(): { serviceKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const text = (der: Buffer) => der.toString("base64");
  return {
    serviceKey: text(privateKey.export({ format: "der", type: "pkcs8" })),
    publicKey: text(publicKey.export({ format: "der", type: "spki" })),
  };
}

/** The public part of a SERVICE_KEY, as in SERVICE_PUBLIC_KEYS. Throws when it is malformed. */
export function publicKeyOf(serviceKey: string): string {
  const key = createPublicKey(privateKeyIn(serviceKey));
  return key.export({ format: "der", type: "spki" }).toString("base64");
}

/**
 * SERVICE_KEY where a process calls other services, and SERVICE_PUBLIC_KEYS where it serves RPCs. Throws one error that
 * names what is missing or malformed, and no value.
 */
export function readIdentity(env: Env, service: string): IdentitySettings {
  return readConfig(env, (reader) => {
    const name = SERVICE_NAMES.find((known) => known === service);
    const roles = reader.list("ROLES");
    const serviceKey = name && peersOf(name, roles).length > 0 ? readServiceKey(reader) : undefined;
    const publicKeys = name && servesRpcs(name, roles) ? readPublicKeys(reader) : new Map();
    const own = serviceKey && createPublicKey(serviceKey);
    if (own && publicKeys.size > 0 && !publicKeys.get(name)?.some((key: KeyObject) => key.equals(own)))
      reader.fail(`SERVICE_PUBLIC_KEYS does not have the public key of ${name}'s SERVICE_KEY`);
    return { serviceKey, publicKeys };
  });
}

function servesRpcs(name: ServiceName, names: readonly string[]): boolean {
  const { rpcs, roles } = serviceEntry(name);
  return rpcs.length > 0 && (!roles || names.length === 0 || names.some((role) => roles[role]?.servesRpcs));
}

function readServiceKey(reader: EnvReader): KeyObject | undefined {
  const text = reader.text("SERVICE_KEY");
  if (text === "") return undefined;
  try {
    return privateKeyIn(text);
  } catch {
    reader.fail("SERVICE_KEY must be an Ed25519 private key: PKCS #8, DER, in base64");
    return undefined;
  }
}

function readPublicKeys(reader: EnvReader): Map<ServiceName, KeyObject[]> {
  reader.text("SERVICE_PUBLIC_KEYS");
  const keys = new Map<ServiceName, KeyObject[]>();
  const owners = new Map<string, string>();
  for (const [name, text] of publicKeyList(reader.list("SERVICE_PUBLIC_KEYS"))) {
    const service = SERVICE_NAMES.find((known) => known === name);
    const key = publicKeyIn(text);
    const owner = owners.get(text) ?? name;
    owners.set(text, owner);
    if (owner !== name)
      reader.fail(`SERVICE_PUBLIC_KEYS has one key for ${owner} and ${name}: each could act as the other`);
    if (service && key) keys.set(service, [...(keys.get(service) ?? []), key]);
    else
      reader.fail(
        "SERVICE_PUBLIC_KEYS must be <service>:<Ed25519 public key: SPKI, DER, in base64>, separated by commas",
      );
  }
  return keys;
}

/** The entries of SERVICE_PUBLIC_KEYS: names with keys. */
export function publicKeyList(entries: readonly string[]): [name: string, key: string][] {
  return entries.map((entry) => {
    const [name = "", key = ""] = entry.split(":");
    return [name.trim(), key.trim()];
  });
}

/** Throws when it is no Ed25519 key. */
function privateKeyIn(text: string): KeyObject {
  const key = createPrivateKey({ key: Buffer.from(text, "base64"), format: "der", type: "pkcs8" });
  if (key.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
  return key;
}

function publicKeyIn(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}
