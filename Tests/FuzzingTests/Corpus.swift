import Foundation

/// The files beside the targets.
enum Corpus {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = package.appendingPathComponent("Tests/Fuzzing")

    /// What a target starts from: the corpus, and everything that it once failed on.
    static func inputs(_ target: String) throws -> [[UInt8]] {
        try ["Corpora", "Crashers"].flatMap { kind in
            let place = folder.appendingPathComponent(kind).appendingPathComponent(target)
            guard FileManager.default.fileExists(atPath: place.path) else { return [[UInt8]]() }
            let names = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
            return try names.map { Array(try Data(contentsOf: place.appendingPathComponent($0))) }
        }
    }

    /// A source file of the package.
    static func source(_ path: String) throws -> String {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
    }

    /// All source files below a folder.
    static func sources(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: package.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".swift") }.map { try source(folder + "/" + $0) }
    }

    static func lastInput(_ target: String) -> LastInput {
        LastInput(path: NSTemporaryDirectory() + "pushfarm-fuzz-\(target)-\(getpid())")
    }
}

/// A file that holds the input which is being tried, also after a trap: it is mapped, so the kernel has it.
struct LastInput {
    let path: String
    private static let room = 1 << 20
    private let file: UnsafeMutableRawPointer?
    private let descriptor: Int32

    init(path: String) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        ftruncate(descriptor, off_t(Self.room))
        let start = mmap(nil, Self.room, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        file = start == MAP_FAILED ? nil : start
    }

    /// The length in 8 bytes, then the input.
    func write(_ input: [UInt8]) {
        guard let file else { return }
        file.storeBytes(of: UInt64(input.count).littleEndian, as: UInt64.self)
        input.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: file + 8, count: Self.room - 8).copyMemory(from: bytes)
        }
    }

    func remove() {
        if let file { munmap(file, Self.room) }
        close(descriptor)
        unlink(path)
    }
}
