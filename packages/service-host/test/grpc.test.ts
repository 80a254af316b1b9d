import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@toolgate/gen/grpc/health/v1/health_pb";
import { ServerReflection, type ServerReflectionRequest } from "@toolgate/gen/grpc/reflection/v1/reflection_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { rpcRig } from "./rpc-rig.ts";

const start = (ready?: () => Promise<void>) =>
  rpcRig((router) => router.service(SessionService, { login: () => ({}) }), ready);

test("health.Check and List follow the readiness, without a credential", async () => {
  let reason = "";
  await using rig = await start(async () => {
    if (reason) throw new Error(reason);
  });
  const health = createClient(Health, rig.bare);
  for (const service of ["", SessionService.typeName, Health.typeName])
    expect(await health.check({ service })).toMatchObject({ status: Status.SERVING });
  await expect(health.check({ service: "no.such.Service" })).rejects.toMatchObject({ code: Code.NotFound });
  reason = "postgres is down";
  expect(await health.check({ service: SessionService.typeName })).toMatchObject({ status: Status.NOT_SERVING });
  const { statuses } = await health.list({});
  expect(statuses).toMatchObject({ "": { status: Status.NOT_SERVING }, [Health.typeName]: {} });
});

test("health.Watch reports each change of readiness and the drain, and ends when the server closes", async () => {
  let reason = "";
  const rig = await start(async () => {
    if (reason) throw new Error(reason);
  });
  const watch = (service: string) => {
    const seen: string[] = [];
    const read = async () => {
      for await (const { status } of createClient(Health, rig.bare).watch({ service })) seen.push(`${Status[status]}`);
    };
    read().then(
      () => seen.push("end"),
      () => seen.push("error"),
    );
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

test("reflection gives a client everything that it needs to make a call", async () => {
  await using rig = await start();
  const reflection = createClient(ServerReflection, rig.bare);
  const ask = async (messageRequest: ServerReflectionRequest["messageRequest"]) => {
    const requests = (async function* () {
      yield { messageRequest };
    })();
    for await (const { messageResponse } of reflection.serverReflectionInfo(requests)) return messageResponse;
    return undefined;
  };
  const listed = await ask({ case: "listServices", value: "" });
  const services = [Health, ServerReflection, SessionService];
  expect(listed?.case === "listServicesResponse" && listed.value.service.map(({ name }) => name).toSorted()).toEqual(
    services.map(({ typeName }) => typeName),
  );
  for (const symbol of [SessionService.typeName, `${SessionService.typeName}.Login`]) {
    const found = await ask({ case: "fileContainingSymbol", value: symbol });
    const files = found?.case === "fileDescriptorResponse" ? found.value.fileDescriptorProto : [];
    const [file, ...dependencies] = files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const registry = createFileRegistry(file as NonNullable<typeof file>, (name) =>
      dependencies.find((dependency) => dependency.name === name),
    );
    expect(registry.getService(SessionService.typeName)?.method.login?.input.field.email).toBeDefined();
  }
  const extension = { containingType: "google.protobuf.MethodOptions", extensionNumber: 50_001 };
  const extended = await ask({ case: "fileContainingExtension", value: extension as never });
  expect(extended?.case).toBe("fileDescriptorResponse");
  const unknown = await ask({ case: "fileByFilename", value: "no/such.proto" });
  expect(unknown).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
});
