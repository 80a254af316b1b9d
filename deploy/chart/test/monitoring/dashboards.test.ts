import { startMetrics } from "@toolgate/telemetry/sdk";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { checkQuery } from "../../src/checks/queries.ts";
import { DASHBOARDS } from "../../src/dashboards/all.ts";
import { documentedMetrics, RUNTIME_METRICS } from "../../src/monitoring/metrics.ts";
import { alertRules } from "../../src/monitoring/rules.ts";

test("Node's metrics on dashboards and in rules are those that a process serves", async () => {
  await using metrics = startMetrics();
  await eventually(async () => {
    const served = await metrics.scrape();
    for (const [name, labels] of Object.entries(RUNTIME_METRICS)) {
      const [, found = ""] = new RegExp(`^${name}(?:\\{([^}]*)\\})? `, "m").exec(served) ?? [undefined, "missing"];
      const names = [...found.matchAll(/([a-z_0-9]+)="/g)].map(([, label]) => label);
      expect(names, name).toEqual(Object.keys(labels));
      expect(found, name).not.toBe("missing");
    }
    return true;
  });
});

test("every metric of Toolgate is on a dashboard", () => {
  const recorded = new Map(
    alertRules().groups.flatMap(({ rules }) => rules.flatMap(({ record }) => (record ? [[record, {}] as const] : []))),
  );
  const shown = DASHBOARDS.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels))
    .flatMap(({ queries }) => queries)
    .flatMap(({ expr }) => checkQuery(expr, recorded).names.map((name) => name.replace(/_(bucket|sum|count)$/, "")));
  expect([...documentedMetrics().keys()].filter((name) => !shown.includes(name))).toEqual([]);
});

test.each([
  ["sum (rate(toolgate_http_requests_total[5m]))", "no process exports toolgate_http_requests_total"],
  ["sum (toolgate_queue_due_bucket)", "no process exports toolgate_queue_due_bucket"],
  ['toolgate_queue_due{name="outbox"}', "toolgate_queue_due has no label name"],
  ['toolgate_queue_due{queue="outboxes"}', "queue of toolgate_queue_due is never outboxes"],
  ['toolgate_queue_due{queue=~"outbox|audits"}', "queue of toolgate_queue_due is never outbox|audits"],
  ['up{job="worker"}', "job of up is never worker"],
  [
    'toolgate_rpc_duration_seconds_count{rpc="toolgate.key_auth.v1.VerifyService/Check"}',
    "rpc of toolgate_rpc_duration_seconds_count is never toolgate.key_auth.v1.VerifyService/Check",
  ],
  ["sum by (workspace) (toolgate_queue_due)", "nothing to group by: workspace"],
  ["sum by (queue (toolgate_queue_due)", "is no PromQL near"],
])("%s: %s", (query, fault) => {
  expect(checkQuery(query).faults.join("\n")).toContain(fault);
});

test("a right query has no fault, with Grafana's variables", () => {
  const query =
    'sum by (status) (rate(toolgate_http_request_duration_seconds_count{namespace="$namespace",route="/api/v1/tools/*",status=~"5.."}[$__rate_interval])) or 0 * max by (job) (up{job=~"chat-.*"})';
  expect(checkQuery(query)).toMatchObject({ faults: [], groups: ["status", "job"] });
});
