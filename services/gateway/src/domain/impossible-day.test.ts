import { CreateKeyRequestSchema } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { ReportEventsRequestSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { expect, test } from "vitest";
import { impossibleDay } from "./impossible-day.ts";

const expiring = (timestamp: unknown) => impossibleDay(CreateKeyRequestSchema, { name: "k", expiry: { timestamp } });

test.each(["2027-02-30T00:00:00Z", "2027-02-29T00:00:00Z", "2100-02-29T23:59:59Z", "2027-04-31T00:00:00+02:00"])(
  "[KEY-6] %s is no time",
  (time) => expect(expiring(time)).toBe("expiry.timestamp"),
);

test.each(["2028-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "9999-12-31T23:59:59.999Z", "soon", 5, null, undefined])(
  "[KEY-6] %s has no impossible day",
  (time) => expect(expiring(time)).toBeUndefined(),
);

test("[EVT] times in lists are checked", () => {
  const reports = [{ occurredAt: "2026-01-01T00:00:00Z" }, { occurred_at: "2026-02-31T00:00:00Z" }];
  expect(impossibleDay(ReportEventsRequestSchema, { reports })).toBe("reports.occurred_at");
});
