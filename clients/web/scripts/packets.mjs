// TypeScript of the packets of the examples, from the same file as the native ones: protobufjs reads it, protoc-gen-es
// writes.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor/index.js";

const source = new URL("../../../examples/proto/game.proto", import.meta.url).pathname;
const generated = new URL("../examples/generated/", import.meta.url);
const plugin = new URL("../node_modules/.bin/protoc-gen-es", import.meta.url).pathname;

const root = new protobuf.Root().loadSync(source, { keepCase: true }).resolveAll();
const encoded = descriptor.FileDescriptorSet.encode(root.toDescriptor("proto3")).finish();
const { file } = fromBinary(FileDescriptorSetSchema, encoded);
const [game] = file.filter((one) => one.messageType.length > 0);
game.name = "game.proto";
// A compiler names types from the root.
for (const field of game.messageType.flatMap((message) => message.field)) {
  field.typeName =
    field.typeName && !field.typeName.startsWith(".") ? `.${game.package}.${field.typeName}` : field.typeName;
}
const request = create(CodeGeneratorRequestSchema, {
  fileToGenerate: [game.name],
  parameter: "target=ts",
  protoFile: [game],
});
const answer = execFileSync(plugin, { input: toBinary(CodeGeneratorRequestSchema, request) });
const response = fromBinary(CodeGeneratorResponseSchema, answer);
if (response.error) {
  throw new Error(response.error);
}
mkdirSync(generated, { recursive: true });
response.file.forEach(({ name, content }) => writeFileSync(new URL(name, generated), content));
