import FarmHarness
import Foundation
import Testing

/// The folders of Sources are layers. A target may import only targets of its own layer and of lower layers.
struct LayerTests {
    private static let layers = ["Model", "Core", "Platform", "Processes"]
    /// The libraries that files in `Model` and `Core` may import besides targets of these layers. From Glibc, these files use
    /// only mathematical functions such as exp and log.
    private static let pureLibraries: Set<String> = ["DequeModule", "Glibc"]

    private static func targets(of layer: String) throws -> Set<String> {
        let folder = Repository.root.appendingPathComponent("Sources/\(layer)").path
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    }

    private static func imports(of file: String) throws -> Set<String> {
        let text = try Repository.text(of: file)
        let rule = /^(?:@\w+(?:\([^)]*\))? )?(?:package )?import (?:struct |enum |class |func )?(\w+)/
            .anchorsMatchLineEndings()
        return Set(text.matches(of: rule).map { String($0.1) })
    }

    @Test(arguments: ["Model", "Core"]) func `the model and the cores import only pure targets`(
        layer: String
    ) throws {
        var pure = try Self.targets(of: "Model").union(Self.pureLibraries)
        if layer == "Core" { pure.formUnion(try Self.targets(of: "Core")) }
        let files = try Repository.swiftFiles(below: "Sources/\(layer)")
        #expect(files.count > 20)
        for file in files {
            let others = try Self.imports(of: file).subtracting(pure)
            #expect(others.isEmpty, "\(file) imports \(others.sorted())")
        }
    }

    @Test func `the platform imports no process, and no target imports the program`() throws {
        let processes = try Self.targets(of: "Processes")
        for layer in Self.layers {
            let above = layer == "Processes" ? ["pushfarm"] : processes.union(["pushfarm"])
            for file in try Repository.swiftFiles(below: "Sources/\(layer)") {
                let others = try Self.imports(of: file).intersection(above)
                #expect(others.isEmpty, "\(file) imports \(others.sorted())")
            }
        }
    }

    @Test func `every target of a layer has its own folder and line`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        for (layer, function) in zip(Self.layers, ["model", "core", "platform", "process"]) {
            for target in try Self.targets(of: layer) where !target.hasPrefix("C") || layer != "Platform" {
                let rule = try Regex("\\b\(function)\\(\\s*\"\(target)\"")
                #expect(manifest.contains(rule), "\(target) is not declared by \(function)()")
            }
        }
    }

    @Test func `file names are unique`() throws {
        let files = try Repository.swiftFiles(below: "Sources")
        #expect(files.count > 500)
        let folders = Dictionary(grouping: files) { $0.split(separator: "/").last.map(String.init) ?? $0 }
        for (name, paths) in folders where paths.count > 1 {
            Issue.record("\(name) is the name of \(paths.sorted())")
        }
    }
}
