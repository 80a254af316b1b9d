import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GetChatOverviewResponse } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { GetOverviewResponse } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import type { GetHookOverviewResponse } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { GetKeyOverviewResponse } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { EndpointNotice } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import {
  budgetText,
  clockText,
  endpointOffText,
  expiringText,
  FIXES,
  failingAssistantText,
  failingHookText,
  MORE,
  missedText,
  unavailableText,
} from "../../text/en/overview.ts";
import { isDeactivatedByFailures } from "../../text/en/webhooks/endpoint-health.ts";
import { BUILDER_NAME } from "../builder/name.ts";
import { nameOf, shortResult } from "../endpoints/endpoint-status.tsx";

/** Services list this many of a kind. Endpoints are listed all. */
const MAX_LISTED = 20;

/** A sentence about something that needs attention, and where it is put right. */
export interface Item {
  key: string;
  tone: "bad" | "warn";
  /** What the sentence begins with, as it is written elsewhere. */
  subject: string;
  text: string;
  fix: string;
  to: string;
  search: Record<string, string>;
}

/** Items of one kind, and the page that has them all. */
interface Kind {
  items: readonly Item[];
  /** There may be more than the service lists. */
  isMore?: boolean;
  /** Follows the number of those that are not shown. */
  more: string;
  to: string;
  search: Record<string, string>;
}

/** By kind, the most urgent first. */
export function attentionOf(overview: GetOverviewResponse, now: number): readonly Kind[] {
  const { keys, endpoints, hooks, chats } = overview;
  const notices = endpoints?.notices ?? [];
  const off = notices.filter(({ endpoint }) => !endpoint?.active).map((notice) => offItem(notice, now));
  const undelivered = notices.filter(({ endpoint }) => endpoint?.active).map(undeliveredItem);
  return [
    { items: off, more: MORE.endpoints, to: "/webhooks", search: { status: "deactivated" } },
    {
      items: hooks ? hookItems(hooks, now) : [],
      isMore: isFull(hooks?.failing),
      more: MORE.hooks,
      to: "/webhooks/hooks",
      search: { status: "failing" },
    },
    {
      items: chats ? chatItems(chats, now) : [],
      isMore: isFull(chats?.failing),
      more: MORE.assistants,
      to: "/assistants",
      search: {},
    },
    { items: undelivered, more: MORE.undelivered, to: "/webhooks/undelivered", search: {} },
    {
      items: keys ? toolItems(keys) : [],
      isMore: isFull(keys?.unavailableTools),
      more: MORE.tools,
      to: "/api-keys",
      search: { tools: "unavailable" },
    },
    {
      items: keys ? keyItems(keys, now) : [],
      isMore: isFull(keys?.expiring),
      more: MORE.keys,
      to: "/api-keys",
      search: { order: "expiry", status: "active" },
    },
  ];
}

function isFull(listed: readonly unknown[] = []): boolean {
  return listed.length >= MAX_LISTED;
}

function offItem({ endpoint, lastFailure, ...missed }: EndpointNotice, now: number): Item {
  const { deactivatedAt } = endpoint ?? {};
  const isByFailures = endpoint !== undefined && isDeactivatedByFailures(endpoint);
  const text = endpointOffText({
    since: deactivatedAt && clockText(timestampDate(deactivatedAt), now),
    failures: isByFailures ? endpoint.failuresInARow : undefined,
    lastAnswer: lastFailure && shortResult(lastFailure),
    missed: missed.undelivered > 0 ? ` ${missedText(missed.undelivered, missed.undeliveredIsMore)}` : "",
  });
  return {
    key: `endpoint ${endpoint?.id}`,
    tone: isByFailures ? "bad" : "warn",
    subject: nameOf({ url: endpoint?.url ?? "" }),
    text,
    fix: FIXES.endpoint,
    to: "/webhooks",
    search: { open: String(endpoint?.id) },
  };
}

function undeliveredItem({ endpoint, undelivered, undeliveredIsMore }: EndpointNotice): Item {
  return {
    key: `undelivered ${endpoint?.id}`,
    tone: "warn",
    subject: `${nameOf({ url: endpoint?.url ?? "" })}:`,
    text: missedText(undelivered, undeliveredIsMore),
    fix: FIXES.undelivered,
    to: "/webhooks/undelivered",
    search: { endpoint: String(endpoint?.id) },
  };
}

function hookItems({ failing }: GetHookOverviewResponse, now: number): Item[] {
  return failing.map(({ id, name, refusedInARow, refusedSince, lastReceivedAt }) => ({
    key: `hook ${id}`,
    tone: "bad",
    subject: name,
    text: failingHookText(
      refusedInARow,
      refusedSince ? clockText(timestampDate(refusedSince), now) : "",
      lastReceivedAt !== undefined,
    ),
    fix: FIXES.hook,
    to: "/webhooks/calls",
    search: { kind: "refused", hook: String(id) },
  }));
}

function chatItems({ failing, tokensPerDay, tokensToday }: GetChatOverviewResponse, now: number): Item[] {
  const items = failing.map(
    ({ name, failures, lastAt }): Item => ({
      key: `assistant ${name}`,
      tone: "bad",
      subject: name,
      text: failingAssistantText(failures, lastAt ? clockText(timestampDate(lastAt), now) : ""),
      // It has no page among the assistants.
      ...(name === BUILDER_NAME
        ? { fix: FIXES.models, to: "/models" }
        : { fix: FIXES.assistant, to: `/assistants/${encodeURIComponent(name)}` }),
      search: {},
    }),
  );
  if (tokensPerDay === 0n || tokensToday < tokensPerDay) return items;
  const budget: Item = {
    key: "budget",
    tone: "bad",
    subject: "The token budget",
    text: budgetText(tokensToday, tokensPerDay),
    fix: FIXES.budget,
    to: "/usage",
    search: {},
  };
  return [budget, ...items];
}

/** [MGMT-18] [MGMT-19] */
function toolItems({ unavailableTools }: GetKeyOverviewResponse): Item[] {
  return unavailableTools.map(({ name, keys }) => ({
    key: `tool ${name}`,
    tone: "bad",
    subject: name,
    text: unavailableText(keys),
    fix: FIXES.tools,
    to: "/api-keys",
    search: { status: "active", tool: name },
  }));
}

function keyItems({ expiring }: GetKeyOverviewResponse, now: number): Item[] {
  return expiring.map(({ id, name, expiresAt }) => ({
    key: `key ${id}`,
    tone: "warn",
    subject: name,
    text: expiresAt ? expiringText(timestampDate(expiresAt), now) : "",
    fix: FIXES.key,
    to: "/api-keys",
    search: { open: id },
  }));
}
