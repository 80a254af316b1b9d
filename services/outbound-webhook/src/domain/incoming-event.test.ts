import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_BODY_BYTES } from "./envelope.ts";
import { checkEvent, newEventId, type PublishedEvent } from "./incoming-event.ts";

const NOW = new Date("2026-11-15T12:34:56.789Z");

const published = (change: Partial<PublishedEvent> = {}): PublishedEvent => ({
  eventId: newEventId(),
  workspaceId: "w",
  workspace: "acme",
  type: "custom.thing",
  created: BigInt(Math.floor(NOW.getTime() / 1000)),
  dataJson: "{}",
  hop: 1,
  ...change,
});
const bodyOf = (change: Partial<PublishedEvent>) => {
  const check = checkEvent(published(change), NOW);
  return check.ok ? check.event.body.toString() : check.reason;
};

describe("an incoming event", () => {
  it("[EVT-1] [EVT-2] [EVT-3] [EVT-4] [EVT-5] [EVT-6] becomes an envelope with the id, the workspace and the data that were published", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string({ minLength: 1, maxLength: 40 }),
        (data, name) => {
          fc.pre(!name.includes("\0"));
          const event = published({ dataJson: JSON.stringify(data), workspace: name.toWellFormed() });
          const check = checkEvent(event, NOW);
          expect(check.ok && JSON.parse(check.event.body.toString())).toEqual({
            id: event.eventId,
            type: "custom.thing",
            api_version: "2026-11-01",
            created: "2026-11-15T12:34:56Z",
            workspace: event.workspace,
            data: JSON.parse(event.dataJson),
          });
        },
      ),
    );
  });

  it("[LOOP-2] a hop of 2 or more is 2, anything else is 1", () => {
    const hops = [0, 1, 2, 3].map((hop) => {
      const check = checkEvent(published({ hop }), NOW);
      return check.ok && check.event.hop;
    });
    expect(hops).toEqual([1, 1, 2, 2]);
  });

  it("[OUT-17] a body of exactly 256 KB passes, one byte more does not", () => {
    const empty = bodyOf({ dataJson: '{"a":""}' }).length;
    const filled = (bytes: number) => bodyOf({ dataJson: `{"a":"${"x".repeat(bytes)}"}` });
    expect(filled(MAX_BODY_BYTES - empty)).toHaveLength(MAX_BODY_BYTES);
    expect(filled(MAX_BODY_BYTES - empty + 1)).toBe("the body is over 256 KB");
  });

  it.each(["evt_", `evt_${"A".repeat(32)}`, `x evt_${"a".repeat(32)}`, `evt_${"a".repeat(33)}`])(
    "[EVT-1] refuses the id %s",
    (eventId) => {
      expect(checkEvent(published({ eventId }), NOW).ok).toBe(false);
    },
  );
});
