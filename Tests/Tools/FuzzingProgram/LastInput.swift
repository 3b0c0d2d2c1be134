import Foundation

/// A file with the input that is being tried. The file is memory-mapped, so the kernel keeps the input after a trap.
struct LastInput {
    private static let room = 1 << 20
    private let descriptor: Int32
    private let file: UnsafeMutableRawBufferPointer

    init?(path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(Self.room)) == 0,
            let start = mmap(nil, Self.room, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            start != MAP_FAILED
        else { return nil }
        file = UnsafeMutableRawBufferPointer(start: start, count: Self.room)
    }

    /// Writes the length in 4 bytes, little-endian, and then the input.
    func write(_ input: [UInt8]) {
        file.storeBytes(of: UInt32(input.count).littleEndian, as: UInt32.self)
        input.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: file[4...]).copyMemory(from: $0) }
    }
}
