import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import {
  ListToolsRequestSchema,
  ListToolsResponseSchema,
  ToolService,
} from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { recordedLog } from "./rpc-rig.ts";

const headers = principalHeaders({ userId: "u", email: "a@b.c", workspaceId: "w", workspace: "acme", role: "admin" });
const page = create(ListToolsResponseSchema, { nextPageToken: "page" });

const transportOf = (routes: (router: ConnectRouter) => void) => testTransport(routes, recordedLog().log);

test("[NFR] a caller in the same process gets the message that the handler returned, not a copy", async () => {
  const client = createClient(
    ToolService,
    transportOf((router) => router.service(ToolService, { listTools: () => page })),
  );
  expect(await client.listTools({}, { headers })).toBe(page);
});

test("[NFR] a handler gets a copy of the request, and its response is complete whatever form it returns", async () => {
  const request = create(ListToolsRequestSchema, { workspace: "acme" });
  let isSame = true;
  const client = createClient(
    ToolService,
    transportOf((router) =>
      router.service(ToolService, {
        listTools(received) {
          isSame = received === request;
          return { nextPageToken: received.workspace };
        },
      }),
    ),
  );
  expect(await client.listTools(request, { headers })).toEqual(
    create(ListToolsResponseSchema, { nextPageToken: "acme" }),
  );
  expect(isSame).toBe(false);
});

test("[NFR] calls that handlers make, at the same time or before an error, do not mix up responses", async () => {
  const sessions = createClient(
    SessionService,
    transportOf((router) => router.service(SessionService, { getKeySet: () => ({ jwksJson: "keys" }) })),
  );
  const client = createClient(
    ToolService,
    transportOf((router) =>
      router.service(ToolService, {
        async listTools({ workspace }) {
          const [{ jwksJson }] = await Promise.all([sessions.getKeySet({}), sessions.getKeySet({})]);
          if (workspace === "missing") throw new ConnectError("no such workspace", Code.NotFound);
          return { nextPageToken: `${workspace} ${jwksJson}` };
        },
      }),
    ),
  );
  const names = ["a", "b", "c"];
  const pages = await Promise.all(names.map((workspace) => client.listTools({ workspace }, { headers })));
  expect(pages.map(({ nextPageToken }) => nextPageToken)).toEqual(["a keys", "b keys", "c keys"]);
  await expect(client.listTools({ workspace: "missing" }, { headers })).rejects.toMatchObject({ code: Code.NotFound });
});

test("[NFR] a response that comes after its caller has left is dropped", async () => {
  const gate = Promise.withResolvers<void>();
  const client = createClient(
    ToolService,
    transportOf((router) => router.service(ToolService, { listTools: () => gate.promise.then(() => page) })),
  );
  const leaving = new AbortController();
  const call = client.listTools({}, { headers, signal: leaving.signal });
  leaving.abort();
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  gate.resolve();
  expect(await client.listTools({}, { headers })).toBe(page);
});
