import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listMembers as list } from "../../store/memberships.ts";
import { ROLE } from "../sessions/session.ts";

export const listMembers: Handler<Context, typeof MemberService.method.listMembers> = async (
  { pool, now },
  request,
  call,
) => {
  const size = pageSize(request.pageSize);
  const { workspaceId } = principalOf(call);
  const after = parsePageToken<{ id: string }>(request.pageToken, { id: CURSOR.uuid });
  const { search } = request;
  const rows = await list(pool, { workspaceId, search, limit: size + 1, after: after?.id ?? null, now: now() });
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return {
    members: page.map(({ userId, email, role, sessions, lastUsedAt }) => ({
      userId,
      email,
      role: ROLE[role],
      sessions,
      ...(lastUsedAt && { lastUsedAt: timestampOf(lastUsedAt) }),
    })),
    nextPageToken: last ? nextPageToken({ id: last.userId }) : "",
  };
};
