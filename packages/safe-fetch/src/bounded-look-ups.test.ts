import { expect, test } from "vitest";
import { boundedLookUps, MAX_LOOK_UPS, MAX_WAITING_LOOK_UPS } from "./bounded-look-ups.ts";

test("[SSRF] look-ups above the bound wait for their turn, and fail when too many wait", async () => {
  const begun = new Map<string, (addresses: string[]) => void>();
  const lookUp = boundedLookUps(
    (host) => new Promise((resolve) => void begun.set(host, resolve)),
    () => 0,
  );
  const names = Array.from({ length: MAX_LOOK_UPS + MAX_WAITING_LOOK_UPS }, (_, index) => `n${index}`);
  const looks = names.map(lookUp);
  await expect(lookUp("one more")).rejects.toThrow("too many");
  expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOK_UPS));
  begun.get("n0")?.(["8.8.8.8"]);
  expect(await looks[0]).toEqual(["8.8.8.8"]);
  await Promise.resolve();
  expect([...begun.keys()]).toEqual(names.slice(0, MAX_LOOK_UPS + 1));
});
