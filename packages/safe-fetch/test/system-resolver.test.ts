import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@toolgate/testbed/eventually";
import { startNameServer } from "@toolgate/testbed/servers/name-server";
import { expect, test } from "vitest";
import { createSystemResolver, MAX_LOOKUPS_PER_WORKSPACE } from "../src/system-resolver.ts";

const NO_FILE = join(tmpdir(), "no-such-folder", "hosts");

test("[SSRF] names whose servers hang do not delay another workspace, however many they are", async () => {
  await using dns = await startNameServer((host) => (host.startsWith("mute") ? "mute" : ["8.8.8.8"]));
  const resolver = createSystemResolver({ servers: dns.servers, hostsFile: NO_FILE });
  let ended = 0;
  const hanging = Array.from({ length: 20 }, (_, index) =>
    resolver(`mute${index}.example.net`, "noisy").catch(() => {
      ended += 1;
    }),
  );
  const begun = () => hanging.filter((_, index) => dns.asked(`mute${index}.example.net`) > 0).length;
  await eventually(() => begun() === MAX_LOOKUPS_PER_WORKSPACE);
  expect(await resolver("live.example.net", "quiet")).toEqual(["8.8.8.8"]);
  expect(ended).toBe(0);
});

test("[SSRF] simultaneous lookups of one name are one", async () => {
  await using dns = await startNameServer(() => []);
  const resolver = createSystemResolver({ servers: dns.servers, hostsFile: NO_FILE });
  const look = () => resolver("new.example.net", "w");
  const both = await Promise.allSettled([look(), look()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  // One question for each family.
  expect(dns.asked("new.example.net")).toBe(2);
});

test("[SSRF] the hosts file is read again when it has changed, and wins over DNS", async () => {
  await using dns = await startNameServer(() => ["8.8.8.8"]);
  const folder = await mkdtemp(join(tmpdir(), "hosts-"));
  await using _cleanup = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
  const hostsFile = join(folder, "hosts");
  let changes = 0;
  const write = async (text: string) => {
    changes += 1;
    await writeFile(hostsFile, text);
    await utimes(hostsFile, changes, changes);
  };
  await write("# 10.0.0.9 dev\n10.0.0.1\tDev dev.example.net. # name\nfd00::1 dev\nnonsense dev\n10.0.0.1 dev\n");
  const resolver = createSystemResolver({ servers: dns.servers, hostsFile });
  expect(await resolver("dev", "w")).toEqual(["10.0.0.1", "fd00::1"]);
  expect(await resolver("dev.example.net", "w")).toEqual(["10.0.0.1"]);
  expect(await resolver("localhost", "w")).toEqual(["127.0.0.1", "::1"]);
  await write("10.0.0.2 dev\n");
  expect(await resolver("dev", "w")).toEqual(["10.0.0.2"]);
  await write("");
  expect(await resolver("dev", "w")).toEqual(["8.8.8.8"]);
});
