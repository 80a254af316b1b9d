import { Code, ConnectError } from "@connectrpc/connect";

export function invalid(field: string, message: string): ConnectError {
  return new ConnectError(`${field}: ${message}`, Code.InvalidArgument);
}

export function noSuchKey(): ConnectError {
  return new ConnectError("no such key", Code.NotFound);
}

export function noSuchMember(): ConnectError {
  return new ConnectError("no such member", Code.NotFound);
}

export function wrongPassword(): ConnectError {
  return new ConnectError("email or password wrong", Code.Unauthenticated);
}
