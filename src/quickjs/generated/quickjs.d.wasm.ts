/** Made by dev/quickjs/build.ts of @jitl/quickjs-ng-wasmfile-release-sync. */
declare const module: WebAssembly.Module;
export default module;
