import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { MemberRole } from "@toolgate/service-host/principal";
import type { FastifyRequest } from "fastify";
import { type Login, loginOf } from "../../domain/session-cookie.ts";

const MEMBER_ROLES: Partial<Record<Role, MemberRole>> = {
  [Role.MEMBER]: "member",
  [Role.MANAGER]: "manager",
  [Role.ADMIN]: "admin",
};

/** Undefined for a role that this gateway does not know. */
export function memberRoleOf(role: Role): MemberRole | undefined {
  return MEMBER_ROLES[role];
}

export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === "https";
}

/** The credential of a request, if any. */
export function loginOfRequest(request: FastifyRequest): Login {
  return loginOf(request.headers, isSecure(request));
}
