import { createRedactor } from "@toolgate/redaction/redactor";
import { expect, test } from "vitest";
import { UsedSecrets } from "../domain/calls/remove-secrets.ts";
import { RecordedWrites } from "./recorded-writes.ts";

const MIB = 1024 * 1024;
const redact = createRedactor();

const detailsOf = (writes: RecordedWrites, secrets = new UsedSecrets()) =>
  writes.list(secrets).map(({ detailJson }) => JSON.parse(detailJson));

test("[EVT-31] what would have been written is redacted", () => {
  const writes = new RecordedWrites(redact);
  writes.add("t", "fetch", { password: "p", n: 1 });
  expect(writes.list(new UsedSecrets())).toEqual([
    { tool: "t", name: "fetch", detailJson: '{"password":"[entfernt]","n":1}' },
  ]);
});

test("a secret is removed even if the run used it only after the write", () => {
  const writes = new RecordedWrites(redact);
  writes.add("t", "fetch", { body: "with a-secret-value in it" });
  const secrets = new UsedSecrets();
  secrets.add({ value: "a-secret-value", forms: () => ["a-secret-value"] });
  expect(detailsOf(writes, secrets)).toEqual([{ body: "with [entfernt] in it" }]);
});

test("all writes together have at most 1 MiB of details, in bytes; of a longer one there is only the length", () => {
  const writes = new RecordedWrites(redact);
  const almostAll = "ä".repeat(MIB / 2 - 100);
  writes.add("t", "fetch", almostAll);
  writes.add("t", "fetch", "x".repeat(1_000));
  writes.add("t", "fetch", "short");
  expect(detailsOf(writes)).toEqual([almostAll, { truncated: true, characters: 1_002 }, "short"]);
});

test("a value that redaction makes longer than what is left is left out, and what follows is not redacted for nothing", () => {
  let times = 0;
  const writes = new RecordedWrites((value) => {
    times += 1;
    return redact(value);
  });
  const longer = Array.from({ length: MIB / 20 }, () => ({ pwd: 1 }));
  for (let n = 0; n < 5; n += 1) writes.add("t", "fetch", longer);
  const characters = JSON.stringify(longer).length;
  const redacted = JSON.stringify(redact(longer)).length;
  expect(detailsOf(writes)).toEqual(
    [redacted, characters, characters, characters, characters].map((length) => ({
      truncated: true,
      characters: length,
    })),
  );
  expect(times).toBe(1);
});
