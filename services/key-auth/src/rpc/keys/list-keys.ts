import { Code, ConnectError } from "@connectrpc/connect";
import { KeyOrder, type KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { MAX_NAME_CHARACTERS, type KeyStatus as Status } from "../../domain/key.ts";
import { type KeyCursor, listKeys as listKeyRows, type KeyOrder as Order, toolsOfKeys } from "../../store/key-list.ts";
import { invalid } from "../errors.ts";
import { keyMessage, readFacts } from "./key-message.ts";

const ORDERS: Record<KeyOrder, Order> = {
  [KeyOrder.UNSPECIFIED]: "newest",
  [KeyOrder.NAME]: "name",
  [KeyOrder.LAST_USED]: "last_used",
  [KeyOrder.CALLS_TOTAL]: "calls_total",
  [KeyOrder.EXPIRY]: "expiry",
};

const STATUSES: Record<KeyStatus, Status | undefined> = {
  [KeyStatus.UNSPECIFIED]: undefined,
  [KeyStatus.ACTIVE]: "active",
  [KeyStatus.REVOKED]: "revoked",
  [KeyStatus.EXPIRED]: "expired",
};

export const listKeys: Handler<Context, typeof KeyService.method.listKeys> = async (context, request, call) => {
  const { workspaceId } = principalOf(call);
  const size = pageSize(request.pageSize);
  const order = ORDERS[request.order];
  if (!order) throw invalid("order", "not an order of this list");
  if (!(request.status in STATUSES)) throw invalid("status", "not a status of a key");
  if (request.search.length > MAX_NAME_CHARACTERS) throw invalid("search", `at most ${MAX_NAME_CHARACTERS} characters`);
  const rows = await listKeyRows(context.pool, {
    workspaceId,
    order,
    filter: {
      status: STATUSES[request.status],
      search: request.search.trim(),
      tool: request.tool,
      anyOfTools: request.withUnavailableTools ? await unavailableTools(context, workspaceId) : undefined,
    },
    limit: size + 1,
    after: cursorOf(request.pageToken, order),
    now: context.now(),
  }).catch((error: unknown) => {
    throw isDataError(error) ? notOfThisList() : error;
  });
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  const facts = await readFacts(context, workspaceId, page);
  return {
    keys: page.map((row) => keyMessage(row, facts, context.now())),
    nextPageToken: last ? nextPageToken(last.cursor) : "",
  };
};

/** The listed tools that no key can call. Fails when tool-runner cannot be reached, because nobody else knows. */
async function unavailableTools({ pool, tools }: Context, workspaceId: string): Promise<string[]> {
  const listed = await toolsOfKeys(pool, workspaceId);
  const released = await tools.released(workspaceId, listed);
  return listed.filter((name) => !released.has(name));
}

/** A name, a time or a count, depending on the order. What Postgres cannot read is refused, too. */
const ANY_VALUE = /^[^\0]{0,400}$/s;

const notOfThisList = () => new ConnectError("page_token: not a token of this list", Code.InvalidArgument);

function cursorOf(pageToken: string, order: Order): KeyCursor | undefined {
  const cursor = parsePageToken<KeyCursor>(pageToken, { order: CURSOR.name, value: ANY_VALUE, id: CURSOR.uuid });
  if (cursor && cursor.order !== order) throw notOfThisList();
  return cursor;
}
