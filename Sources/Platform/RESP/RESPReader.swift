import CHiredis
package import RedisProtocol

/// Converts bytes from Redis into replies, with hiredis's `redisReader`.
///
/// The reader builds replies while hiredis parses, so a bulk string is copied only once, from hiredis's buffer. After an error,
/// this reader is unusable. Create a new reader for the next connection.
package final class RESPReader {
    /// Limits of a reply. A reply over a limit is refused before memory is allocated for the reply.
    package struct Limits: Sendable {
        /// The maximum number of received bytes that are not yet part of a returned reply.
        package var bufferedBytes: Int
        /// The maximum number of elements in one array.
        package var elements: Int

        package init(bufferedBytes: Int = 256 << 20, elements: Int = 1 << 20) {
            self.bufferedBytes = bufferedBytes
            self.elements = elements
        }
    }

    private let reader: UnsafeMutablePointer<redisReader>
    private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
    private let limits: Limits
    private var builder: RESPBuilder

    package init(limits: Limits = Limits()) {
        self.limits = limits
        builder = RESPBuilder(maximumElements: limits.elements)
        functions = .allocate(capacity: 1)
        functions.initialize(to: RESPReader.callbacks())
        guard let reader = redisReaderCreateWithFunctions(functions) else {
            preconditionFailure("redisReaderCreateWithFunctions: out of memory")
        }
        self.reader = reader
        // hiredis frees an empty buffer that is larger than this limit. With the default of 16 KiB, hiredis would often free the
        // buffer and allocate it again. Without a limit, the buffer would keep the size of the largest reply.
        reader.pointee.maxbuf = 1 << 20
        reader.pointee.privdata = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        redisReaderFree(reader)
        functions.deinitialize(count: 1)
        functions.deallocate()
    }

    /// Adds received bytes.
    /// - Throws: ``RESPError/tooManyBytes(limit:)``
    package func feed(_ bytes: UnsafeRawBufferPointer) throws(RESPError) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        let waiting = reader.pointee.len - reader.pointee.pos
        guard waiting + bytes.count <= limits.bufferedBytes else {
            throw .tooManyBytes(limit: limits.bufferedBytes)
        }
        let result = redisReaderFeed(reader, start.assumingMemoryBound(to: CChar.self), bytes.count)
        guard result == REDIS_OK else { throw failure() }
    }

    package func feed(_ bytes: [UInt8]) throws(RESPError) {
        var failure: RESPError?
        bytes.withUnsafeBytes { raw in
            do throws(RESPError) { try feed(raw) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The next complete reply; nil when more bytes are needed.
    package func next() throws(RESPError) -> RESPValue? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw failure() }
        guard object != nil else { return nil }
        return builder.takeRoot()
    }

    private func failure() -> RESPError {
        if builder.refusedElements > 0 {
            return .tooManyElements(builder.refusedElements, limit: limits.elements)
        }
        let text = withUnsafeBytes(of: reader.pointee.errstr) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        return .protocolError(text)
    }
}

extension RESPReader {
    /// What the callbacks return to hiredis instead of a reply, because ``RESPBuilder`` stores the replies. hiredis only checks
    /// that the pointer is not nil.
    private static var present: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }

    private static func callbacks() -> redisReplyObjectFunctions {
        var functions = redisReplyObjectFunctions()
        functions.createString = { task, text, length in
            guard let task, let text else { return nil }
            let bytes = UnsafeRawBufferPointer(start: text, count: length)
            RESPReader.of(task).builder.add(string: bytes, type: task.pointee.type)
            return RESPReader.present
        }
        // `count` is an Int32 in hiredis 0.14 and an Int in 1.x. No type is written here, so the code compiles with both
        // versions.
        functions.createArray = { task, count in
            guard let task else { return nil }
            return RESPReader.of(task).builder.open(count: Int(count)) ? RESPReader.present : nil
        }
        functions.createInteger = { task, value in
            guard let task else { return nil }
            RESPReader.of(task).builder.add(.integer(value))
            return RESPReader.present
        }
        functions.createNil = { task in
            guard let task else { return nil }
            RESPReader.of(task).builder.add(.null)
            return RESPReader.present
        }
        functions.freeObject = { _ in }
        return functions
    }

    private static func of(_ task: UnsafePointer<redisReadTask>) -> RESPReader {
        Unmanaged<RESPReader>.fromOpaque(task.pointee.privdata).takeUnretainedValue()
    }
}
