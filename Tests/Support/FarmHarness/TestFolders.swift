import Foundation
import Synchronization

/// The folders of one test. The folders exist until the test's result is known, so that a failed test's logs can
/// be copied.
package final class TestFolders: Sendable {
    /// The folders of the running test; nil outside a test.
    @TaskLocal package static var current: TestFolders?

    private let state = Mutex((folders: [String](), isToBeKept: false))

    package init() {}

    /// Records that the test has failed or is about to fail.
    package func keep() { state.withLock { $0.isToBeKept = true } }

    /// Records a folder that its owner no longer needs.
    func leave(_ folder: String) { state.withLock { $0.folders.append(folder) } }

    /// Ends the test: copies its logs if it failed, and removes its folders.
    /// - Returns: the folder of the copied logs; nil if no logs were copied.
    package func close(as name: String) -> String? {
        let (left, isKept) = state.withLock { ($0.folders, $0.isToBeKept && !$0.folders.isEmpty) }
        let words = name.split { !$0.isLetter && !$0.isNumber }
        let place = Self.place + "/" + words.joined(separator: "-").prefix(100)
        if isKept { try? FileManager.default.removeItem(atPath: place) }
        for folder in left {
            if isKept { Self.copy(folder, to: place) }
            try? FileManager.default.removeItem(atPath: folder)
            Guardian.shared.forget(folder: folder)
        }
        return isKept ? place : nil
    }

    /// The folder that logs are copied into. The working directory of tests is the package's folder.
    private static let place = FileManager.default.currentDirectoryPath + "/.build/failed"
    private static let kinds = [".out", ".err", ".log", ".jsonl", ".yaml"]
    private static let most = 20_000_000

    private static func copy(_ folder: String, to place: String) {
        let files = FileManager.default
        let root = place + "/" + (folder as NSString).lastPathComponent
        for name in (try? files.subpathsOfDirectory(atPath: folder)) ?? [] {
            let size = (try? files.attributesOfItem(atPath: folder + "/" + name))?[.size] as? Int
            guard let size, size > 0, size < most, kinds.contains(where: name.hasSuffix) else { continue }
            let target = root + "/" + name
            try? files.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try? files.copyItem(atPath: folder + "/" + name, toPath: target)
        }
    }
}
