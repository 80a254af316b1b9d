import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { clientOf, credential, grpcClient, unary } from "./grpc-client.ts";
import { rpcRig } from "./rpc-rig.ts";

const HEALTH = ["grpc/health/v1/health.proto", "grpc.health.v1.Health"] as const;
const SESSION = ["toolgate/key_auth/v1/session.proto", "toolgate.key_auth.v1.SessionService"] as const;
const VERIFY = ["toolgate/key_auth/v1/verify.proto", "toolgate.key_auth.v1.VerifyService"] as const;
const REFLECTION = ["v1", "v1alpha"].map(
  (version) => [`grpc/reflection/${version}/reflection.proto`, `grpc.reflection.${version}.ServerReflection`] as const,
);

function start(ready?: () => Promise<void>) {
  return rpcRig((router) => {
    router.service(SessionService, {
      login: ({ email }) => ({ token: `token of ${email}` }),
      getKeySet: () => ({ jwksJson: "{}" }),
    });
    router.service(VerifyService, {
      async *verifyCalls(batches) {
        yield {};
        for await (const { calls } of batches) yield { replies: calls.map(({ id }) => ({ id })) };
      },
    });
  }, ready);
}

test("health.Check and List follow the readiness, without a credential", async () => {
  let reason = "";
  await using rig = await start(async () => {
    if (reason) throw new Error(reason);
  });
  using health = closing(grpcClient(rig.server.port, ...HEALTH));
  for (const service of ["", SESSION[1], "grpc.health.v1.Health"])
    expect(await unary(health.client, "check", { service })).toEqual({ status: "SERVING" });
  await expect(unary(health.client, "check", { service: "no.such.Service" })).rejects.toMatchObject({
    code: status.NOT_FOUND,
  });
  reason = "postgres is down";
  expect(await unary(health.client, "check", { service: SESSION[1] })).toEqual({ status: "NOT_SERVING" });
  const { statuses } = await unary<{ statuses: object }>(health.client, "list", {});
  expect(statuses).toMatchObject({ "": { status: "NOT_SERVING" }, [VERIFY[1]]: { status: "NOT_SERVING" } });
});

test("health.Watch reports each change of readiness and the drain, and ends when the server closes", async () => {
  let reason = "";
  const rig = await start(async () => {
    if (reason) throw new Error(reason);
  });
  using health = closing(grpcClient(rig.server.port, ...HEALTH));
  const watch = (service: string) => {
    const seen: string[] = [];
    const stream = health.client.watch({ service }, credential());
    stream.on("data", (response: { status: string }) => seen.push(response.status));
    stream.on("error", () => seen.push("error"));
    stream.on("end", () => seen.push("end"));
    return seen;
  };
  const [whole, unknown] = [watch(""), watch("no.such.Service")];
  await eventually(() => expect([whole, unknown]).toEqual([["SERVING"], ["SERVICE_UNKNOWN"]]));
  reason = "postgres is down";
  await eventually(() => expect(whole).toEqual(["SERVING", "NOT_SERVING"]));
  reason = "";
  await eventually(() => expect(whole).toEqual(["SERVING", "NOT_SERVING", "SERVING"]));
  rig.readiness.markDraining();
  await eventually(() => expect(whole).toEqual(["SERVING", "NOT_SERVING", "SERVING", "NOT_SERVING"]));
  await rig[Symbol.asyncDispose]();
  await eventually(() => expect([whole.at(-1), unknown]).toEqual(["end", ["SERVICE_UNKNOWN", "end"]]));
});

test("gRPC's own client makes unary calls and streams with the internal credential, and none without", async () => {
  await using rig = await start();
  using session = closing(grpcClient(rig.server.port, ...SESSION));
  using verify = closing(grpcClient(rig.server.port, ...VERIFY));
  expect(await unary(session.client, "login", { email: "a@b.example" }, credential())).toMatchObject({
    token: "token of a@b.example",
  });
  expect(await unary(session.client, "getKeySet", {}, credential())).toMatchObject({ jwksJson: "{}" });
  await expect(unary(session.client, "login", {})).rejects.toMatchObject({ code: status.UNAUTHENTICATED });

  const stream = verify.client.verifyCalls(credential());
  const ids: number[] = [];
  stream.on("data", ({ replies }: { replies: { id: number }[] }) => ids.push(...replies.map(({ id }) => id)));
  stream.write({ calls: [{ id: 1 }, { id: 2 }] });
  await eventually(() => expect(ids).toEqual([1, 2]));
  stream.write({ calls: [{ id: 3 }] });
  await eventually(() => expect(ids).toEqual([1, 2, 3]));
  stream.end();
});

test.each(REFLECTION)("reflection gives a client everything that it needs to make a call (%s)", async (...version) => {
  await using rig = await start();
  using reflection = closing(grpcClient(rig.server.port, ...version));
  const ask = (request: object) => reflect(reflection.client, request);

  const { listServicesResponse } = await ask({ listServices: "" });
  expect(listServicesResponse.service.map(({ name }: { name: string }) => name).sort()).toEqual([
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
    SESSION[1],
    VERIFY[1],
  ]);
  for (const symbol of [SESSION[1], `${SESSION[1]}.Login`, "toolgate.key_auth.v1.LoginRequest.email"]) {
    const { fileDescriptorResponse } = await ask({ fileContainingSymbol: symbol });
    const file = fromBinary(FileDescriptorProtoSchema, fileDescriptorResponse.fileDescriptorProto[0]);
    expect(file.name).toBe(SESSION[0]);
  }
  expect((await ask({ fileContainingSymbol: "no.such.Symbol" })).errorResponse).toMatchObject({ errorCode: 5 });
  expect((await ask({ fileByFilename: "no/such.proto" })).errorResponse).toMatchObject({ errorCode: 5 });

  const options = "google.protobuf.MethodOptions";
  const { allExtensionNumbersResponse } = await ask({ allExtensionNumbersOfType: options });
  expect(allExtensionNumbersResponse.extensionNumber).toEqual([50_001, 50_002]);
  const extension = { containingType: options, extensionNumber: 50_001 };
  expect((await ask({ fileContainingExtension: extension })).messageResponse).toBe("fileDescriptorResponse");

  const { fileDescriptorResponse } = await ask({ fileByFilename: SESSION[0] });
  const file = fileDescriptorResponse.fileDescriptorProto.map((one: Buffer) =>
    fromBinary(FileDescriptorProtoSchema, one),
  );
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  using session = closing(clientOf(loadFileDescriptorSetFromBuffer(Buffer.from(set)), rig.server.port, SESSION[1]));
  expect(await unary(session.client, "login", { email: "x" }, credential())).toMatchObject({ token: "token of x" });
});

/** One request on its own reflection stream. */
function reflect(client: ReturnType<typeof grpcClient>, request: object) {
  // biome-ignore lint/suspicious/noExplicitAny: the response of a client that is made from a proto file at run time.
  return new Promise<any>((resolve, reject) => {
    const stream = client.serverReflectionInfo();
    stream.on("data", resolve).on("error", reject);
    stream.write(request);
    stream.end();
  });
}

function closing(client: ReturnType<typeof grpcClient>) {
  return { client, [Symbol.dispose]: () => client.close() };
}
