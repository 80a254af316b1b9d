import { expect, test, vi } from "vitest";
import { boundedLookups, MAX_LOOKUPS, MAX_WAITING_LOOKUPS } from "./bounded-lookups.ts";

test("[SSRF] lookups above the bound wait for their turn, and fail when too many wait", async () => {
  const begun = new Map<string, (addresses: string[]) => void>();
  const lookup = boundedLookups(
    (host) => new Promise((resolve) => void begun.set(host, resolve)),
    () => 0,
  );
  const names = Array.from({ length: MAX_LOOKUPS + MAX_WAITING_LOOKUPS }, (_, index) => `n${index}`);
  const looks = names.map(lookup);
  await expect(lookup("one more")).rejects.toThrow("too many");
  expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOKUPS));
  begun.get("n0")?.(["8.8.8.8"]);
  expect(await looks[0]).toEqual(["8.8.8.8"]);
  await vi.waitFor(() => expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOKUPS + 1)));
});
