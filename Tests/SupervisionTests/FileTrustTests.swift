import FarmHarness
import Foundation
import Supervision
import Testing

struct FileTrustTests {
    private static let other = "belongs to user 1001, neither to root nor to user 1000"

    @Test(
        arguments: [
            (1000, 0o700, nil), (1000, 0o755, nil), (0, 0o755, nil), (0, 0o4755, nil),
            (1001, 0o700, other), (1001, 0o777, other),
            (1000, 0o775, "can be written by its group"), (0, 0o720, "can be written by its group"),
            (0, 0o757, "can be written by every user"), (1000, 0o1777, "can be written by every user"),
        ] as [(UInt32, UInt32, String?)])
    func `root and the farm's user are trusted owners and no other user may write`(
        owner: UInt32, mode: UInt32, reason: String?
    ) {
        #expect(FileTrust.trustProblem(owner: owner, mode: mode, user: 1000) == reason)
    }

    /// - Returns: the reason why the farm refuses to start the file at `path`; an empty text if the farm would start it.
    private func trustProblem(to path: String) -> String {
        do {
            return try FileTrust.program(path) == path ? "" : "another file"
        } catch { return "\(error)" }
    }

    private func set(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func `the checks cover the file, its folder and the folder of a link to it`() throws {
        let folder = try TestFolder()
        let home = try #require(realpath(folder.path, nil).map { String(cString: $0) })
        for name in ["bin", "links"] {
            try FileManager.default.createDirectory(
                atPath: home + "/" + name, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755])
        }
        let (file, link) = (home + "/bin/program", home + "/links/program")
        #expect(trustProblem(to: file) == "\(file): No such file or directory")
        try folder.write("#!/bin/sh\n", to: "bin/program")
        try set(0o755, file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(trustProblem(to: file) == "")
        #expect(try FileTrust.program(link) == file)
        #expect(trustProblem(to: home + "/bin") == "\(home)/bin is not a file")
        try set(0o644, file)
        #expect(trustProblem(to: file) == "\(file) cannot be executed: Permission denied")
        try set(0o775, file)
        #expect(trustProblem(to: file) == "\(file) can be written by its group")
        try set(0o755, file)
        try set(0o777, home + "/bin")
        #expect(trustProblem(to: file) == "\(home)/bin can be written by every user")
        try set(0o755, home + "/bin")
        try set(0o775, home + "/links")
        #expect(trustProblem(to: link) == "\(home)/links can be written by its group")
    }

    @Test func `a state folder that other users may write is refused`() throws {
        let folder = try TestFolder()
        try FileTrust.stateFolder(folder.path)
        for (mode, reason) in [(0o770, "its group"), (0o707, "every user"), (0o1777, "every user")] {
            try set(mode, folder.path)
            let error = #expect(throws: FileTrust.TrustProblem.self) {
                try FileTrust.stateFolder(folder.path)
            }
            #expect("\(error as Any)".contains("\(folder.path) can be written by \(reason)"))
        }
        try set(0o755, folder.path)
        try FileTrust.stateFolder(folder.path)
        try folder.write("", to: "file")
        #expect(throws: FileTrust.TrustProblem.self) { try FileTrust.stateFolder(folder.path + "/file") }
    }

    @Test(arguments: [(0o600, false), (0o640, false), (0o644, true), (0o604, true)])
    func `a secret is public when every user can read it`(mode: Int, isPublic: Bool) throws {
        let folder = try TestFolder()
        let file = try folder.write("secret", to: "key.p8")
        try set(mode, file)
        #expect(FileTrust.isPublic(file) == isPublic)
        #expect(!FileTrust.isPublic(folder.path + "/none"))
    }
}
