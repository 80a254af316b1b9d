import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { newServiceKey, publicKeyOf } from "@toolgate/service-host/identity/service-keys";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { expect, test } from "vitest";
import { outcomeOf } from "../every-rpc.ts";
import { PROCESSES } from "./cluster.ts";
import { countDamage, NO_DAMAGE } from "./damage.ts";
import { openRig, THIS } from "./rig.ts";
import { startWork } from "./work.ts";

const SERVES_NO_SERVICE = ["gateway", "sandbox"];

test("a service gets another key in the three documented steps, and no call fails", async () => {
  await using rig = await openRig();
  const { cluster, serviceKeys, publicKeys } = rig;
  await using work = startWork(rig);
  const { serviceKey, publicKey } = newServiceKey();
  const oldKey = serviceKeys.gateway;
  const oldEntry = `gateway:${publicKeyOf(oldKey)}`;
  expect(publicKeys).toContain(oldEntry);
  const trust = async (entries: readonly string[]) => {
    for (const process of PROCESSES.filter((name) => !SERVES_NO_SERVICE.includes(name)))
      await cluster.roll(process, THIS, { SERVICE_PUBLIC_KEYS: entries.join(",") });
  };
  const outcomeWith = (key: string) => {
    const [pod] = cluster.pods("key-auth");
    const token = serviceToken("gateway", "key-auth", { serviceKey: key });
    const transport = remoteTransport(
      () => [`http://${pod?.ip}:${pod?.rpcPort}`],
      () => token,
    );
    return outcomeOf(transport, VerifyService.method.verify, {});
  };
  await trust([...publicKeys, `gateway:${publicKey}`]);
  await cluster.roll("gateway", THIS, { SERVICE_KEY: serviceKey });
  for (const key of [oldKey, serviceKey]) expect(await outcomeWith(key)).not.toBe("Unauthenticated");
  await trust([...publicKeys.filter((entry) => entry !== oldEntry), `gateway:${publicKey}`]);
  expect(await outcomeWith(oldKey)).toBe("Unauthenticated");
  expect(await outcomeWith(serviceKey)).not.toBe("Unauthenticated");
  await work.load.served();
  expect(await countDamage(rig, work)).toEqual(NO_DAMAGE);
}, 1_200_000);
