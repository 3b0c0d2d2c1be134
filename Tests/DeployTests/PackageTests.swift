import FarmConfiguration
import FarmHarness
import Foundation
import Manual
import Testing

/// Checks the Debian package, which the test makes from the built program.
@Suite(.enabled(if: DeployFolder.program("dpkg-shlibdeps") != nil, "not a Debian system"))
struct PackageTests {
    private static func run(
        _ name: String, _ words: [String], in folder: TestFolder, environment: [String: String] = [:]
    ) async throws -> String {
        let child = try Child(
            name, words[0], Array(words.dropFirst()), environment: environment, in: folder.path)
        let end = try await child.wait(within: .seconds(120))
        #expect(end == .exited(0), "\(words): \(child.error)")
        return child.output
    }

    /// Makes the package, and returns its file name and the program's version.
    private static func package(in folder: TestFolder) async throws -> (file: String, version: String) {
        for name in ["man", "completions"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
        }
        let program = BuiltProgram.path
        let version = try await run("version", [program, "--version"], in: folder)
            .trimmingCharacters(in: .newlines)
        let dump = try JSONDecoder().decode(
            CommandHelp.Dump.self,
            from: Data(try await run("dump", [program, "--experimental-dump-help"], in: folder).utf8))
        for command in dump.command.all {
            let page = CommandPage(command, .init(version: version, date: "2026-01-02"))
            try folder.write(page.text, to: "man/" + page.file)
        }
        for shell in ["bash", "zsh", "fish"] {
            let script = try await run(
                shell, [program, "--generate-completion-script", shell], in: folder)
            try folder.write(script, to: "completions/" + shell)
        }
        let output = try await run(
            "make",
            [DeployFolder.path("make-deb"), program]
                + ["man", "completions", "out"].map {
                    folder.path + "/" + $0
                }, in: folder,
            environment: [
                // In a debug build the program needs Swift's shared libraries, which are in no Debian package, so dpkg-shlibdeps
                // must accept missing information. Compression would only make the test slower.
                "SHLIBDEPS": "--ignore-missing-info", "DPKG_DEB_COMPRESSOR_TYPE": "none",
                "SOURCE_DATE_EPOCH": "1767312000",
            ])
        return (output.trimmingCharacters(in: .newlines), version)
    }

    @Test func `the package has all its files and depends on every library`() async throws {
        let folder = try TestFolder()
        let (file, version) = try await Self.package(in: folder)
        let fields = try await Self.run("fields", ["dpkg-deb", "--field", file], in: folder)
        let debian = version.replacingOccurrences(of: "-", with: "~") + "-1"
        #expect(fields.contains("\nVersion: \(debian)\n"))
        #expect(fields.firstMatch(of: /@[A-Z]+@/) == nil)
        let depends = try #require(fields.split(separator: "\n").first { $0.hasPrefix("Depends: ") })
        #expect(depends.contains(" tzdata, "))
        // In a debug build only Swift's libraries need these two packages, not the program itself.
        let indirect: Set = ["libstdc++6", "libgcc-s1"]
        for library in try await ImageTests.libraries(in: folder).subtracting(indirect) {
            #expect(depends.contains(" \(library) "), "\(library): \(depends)")
        }

        let root = folder.path + "/root"
        _ = try await Self.run("extract", ["dpkg-deb", "--raw-extract", file, root], in: folder)
        func text(_ path: String) throws -> String {
            try String(contentsOfFile: root + "/" + path, encoding: .utf8)
        }
        for path in [
            "usr/share/man/man1/pushfarm.1.gz", "usr/share/man/man1/pushfarm-push.1.gz",
            "usr/share/bash-completion/completions/pushfarm", "usr/share/zsh/vendor-completions/_pushfarm",
            "usr/share/fish/vendor_completions.d/pushfarm.fish", "usr/share/doc/pushfarm/copyright",
            "usr/share/doc/pushfarm/changelog.Debian.gz",
        ] {
            #expect(FileManager.default.fileExists(atPath: root + "/" + path), "\(path)")
        }
        for unit in ["pushfarm.service", "pushfarm@.service", "pushfarm.slice"] {
            #expect(try text("lib/systemd/system/" + unit) == DeployFolder.text(unit))
        }
        #expect(
            try text("DEBIAN/conffiles").split(separator: "\n")
                == ["/etc/logrotate.d/pushfarm", "/etc/pushfarm/pushfarm.yaml"])
        let farm = try Configuration.read(
            try text("etc/pushfarm/pushfarm.yaml"), file: "/etc/pushfarm/pushfarm.yaml")
        #expect(farm.stateDirectory == "/var/lib/pushfarm")
        #expect(try text("usr/share/doc/pushfarm/copyright").contains("\n Permission is hereby granted"))
        let result = try await Self.run("installed", [root + "/usr/bin/pushfarm", "--version"], in: folder)
        #expect(result == version + "\n")
    }
}
