import POSIX

/// Keeps unsent bodies in shared memory blocks. The store copies each body once. If a body equals the previous body, the store
/// does not copy it, but uses the first copy again.
struct BodyStore: ~Copyable {
    /// The unsent part of one body. The value is not reference-counted, so the owner of the value must call ``release(_:)`` when
    /// no more bytes are needed.
    struct Rest: BitwiseCopyable {
        fileprivate var block: UnsafeMutablePointer<Block>?
        fileprivate(set) var next: UnsafeRawPointer?
        fileprivate(set) var count = 0

        init() {}

        /// Moves up to `room.count` bytes into `room`.
        mutating func move(into room: UnsafeMutableRawBufferPointer) -> Int {
            guard let from = next, count > 0, let to = room.baseAddress else { return 0 }
            let moved = min(count, room.count)
            to.copyMemory(from: from, byteCount: moved)
            next = from + moved
            count -= moved
            return moved
        }
    }

    fileprivate struct Block: BitwiseCopyable {
        let base: UnsafeMutableRawPointer
        let capacity: Int
        var filled = 0
        var users = 0
    }

    private static let blockSize = 65_536
    private static let spareBlocks = 4

    private var current: UnsafeMutablePointer<Block>
    private var spare: [UnsafeMutablePointer<Block>] = []
    private var latest: UnsafeRawBufferPointer?

    init() {
        current = Self.makeBlock(Self.blockSize)
    }

    deinit {
        Self.free(current)
        for block in spare { Self.free(block) }
    }

    mutating func keep(_ body: UnsafeRawBufferPointer) -> Rest {
        var rest = Rest()
        guard let source = body.baseAddress, body.count > 0 else { return rest }
        rest.count = body.count
        if body.count > Self.blockSize {
            rest.block = Self.makeBlock(body.count)
            rest.next = UnsafeRawPointer(rest.block!.pointee.base)
            rest.block!.pointee.base.copyMemory(from: source, byteCount: body.count)
        } else if let latest, latest.count == body.count,
            memcmp(latest.baseAddress!, source, body.count) == 0
        {
            // A job usually sends one payload to many tokens in a row, so the stored copy is used again.
            rest.block = current
            rest.next = latest.baseAddress
        } else {
            if current.pointee.capacity - current.pointee.filled < body.count { takeNextBlock() }
            let target = current.pointee.base + current.pointee.filled
            target.copyMemory(from: source, byteCount: body.count)
            current.pointee.filled += body.count
            latest = UnsafeRawBufferPointer(start: target, count: body.count)
            rest.block = current
            rest.next = UnsafeRawPointer(target)
        }
        rest.block!.pointee.users += 1
        return rest
    }

    mutating func release(_ rest: inout Rest) {
        guard let block = rest.block else { return }
        rest = Rest()
        block.pointee.users -= 1
        guard block.pointee.users == 0 else { return }
        if block == current { return }
        if block.pointee.capacity == Self.blockSize, spare.count < Self.spareBlocks {
            block.pointee.filled = 0
            spare.append(block)
        } else {
            Self.free(block)
        }
    }

    private mutating func takeNextBlock() {
        latest = nil
        if current.pointee.users == 0 {
            current.pointee.filled = 0
            return
        }
        // The old block stays in memory until its last body is released. Then ``release(_:)`` frees the block or keeps it as a
        // spare block.
        current = spare.popLast() ?? Self.makeBlock(Self.blockSize)
    }

    private static func makeBlock(_ size: Int) -> UnsafeMutablePointer<Block> {
        let block = UnsafeMutablePointer<Block>.allocate(capacity: 1)
        block.initialize(to: Block(base: .allocate(byteCount: size, alignment: 16), capacity: size))
        return block
    }

    private static func free(_ block: UnsafeMutablePointer<Block>) {
        block.pointee.base.deallocate()
        block.deallocate()
    }
}
