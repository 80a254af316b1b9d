import { expect, test, vi } from "vitest";
import { boundedLookups, MAX_LOOKUPS, MAX_LOOKUPS_PER_WORKSPACE, MAX_WAITING_LOOKUPS } from "./bounded-lookups.ts";

/** Lookups that go on until the test ends them. */
function heldLookups() {
  const begun = new Map<string, (addresses: string[]) => void>();
  const lookup = boundedLookups(
    (host) => new Promise((resolve) => void begun.set(host, resolve)),
    () => 0,
  );
  return { begun, lookup };
}

const namesOf = (workspace: string, count: number) => Array.from({ length: count }, (_, n) => `${n}.${workspace}`);

test("[SSRF] a workspace's lookups above its bound wait for their turn, and fail when too many wait", async () => {
  const { begun, lookup } = heldLookups();
  const names = namesOf("noisy", MAX_LOOKUPS_PER_WORKSPACE + MAX_WAITING_LOOKUPS);
  const looks = names.map((name) => lookup(name, "noisy"));
  await expect(lookup("one more", "noisy")).rejects.toThrow("share");
  expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOKUPS_PER_WORKSPACE));
  begun.get("0.noisy")?.(["8.8.8.8"]);
  expect(await looks[0]).toEqual(["8.8.8.8"]);
  await vi.waitFor(() => expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOKUPS_PER_WORKSPACE + 1)));
});

test("[SSRF] lookups of a workspace do not wait for those of another, not even for the same name", async () => {
  const { begun, lookup } = heldLookups();
  const names = namesOf("noisy", MAX_LOOKUPS_PER_WORKSPACE + MAX_WAITING_LOOKUPS);
  for (const name of names) void lookup(name, "noisy");
  const [first = "", last = ""] = [names[0], names.at(-1)];
  for (const name of ["quiet.example.net", first, last]) {
    begun.delete(name);
    const look = lookup(name, "quiet");
    await vi.waitFor(() => expect(begun.has(name)).toBe(true));
    begun.get(name)?.(["8.8.8.8"]);
    expect(await look).toEqual(["8.8.8.8"]);
  }
});

test("[SSRF] a name that a workspace has too many others for is not refused to another workspace", async () => {
  const { begun, lookup } = heldLookups();
  for (const name of namesOf("noisy", MAX_LOOKUPS_PER_WORKSPACE + MAX_WAITING_LOOKUPS)) void lookup(name, "noisy");
  await expect(lookup("both.example.net", "noisy")).rejects.toThrow();
  const look = lookup("both.example.net", "quiet");
  await vi.waitFor(() => expect(begun.has("both.example.net")).toBe(true));
  begun.get("both.example.net")?.(["8.8.8.8"]);
  expect(await look).toEqual(["8.8.8.8"]);
});

test("[SSRF] all workspaces together have a bound too", async () => {
  const { begun, lookup } = heldLookups();
  for (let workspace = 0; workspace < 20; workspace += 1) {
    for (const name of namesOf(`w${workspace}`, MAX_LOOKUPS_PER_WORKSPACE)) void lookup(name, `w${workspace}`);
  }
  await vi.waitFor(() => expect(begun.size).toBe(MAX_LOOKUPS));
  begun.get("0.w0")?.(["8.8.8.8"]);
  await vi.waitFor(() => expect(begun.size).toBe(MAX_LOOKUPS + 1));
});
