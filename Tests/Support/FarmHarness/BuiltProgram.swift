import Foundation

/// The built `pushfarm` program beside the test bundle.
package enum BuiltProgram {
    package static var path: String {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("pushfarm").path
    }
}
