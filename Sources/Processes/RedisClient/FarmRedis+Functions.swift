import EventLoop
import RedisProtocol
package import StoreProtocol

/// Loads the Redis functions that producers call.
extension FarmRedis {
    /// The text of the function library in Redis; nil if Redis has no library.
    package func functionLibrary() async throws(RedisError) -> [UInt8]? {
        let list = RESPCommand("FUNCTION", "LIST", "LIBRARYNAME", FunctionLibrary.name, "WITHCODE")
        let library = try await connection.call(list).array?.first?.array ?? []
        guard let index = library.firstIndex(where: { $0.text == "library_code" }), index + 1 < library.count
        else { return nil }
        return library[index + 1].bytes
    }

    /// Loads the function library if Redis has no library or an older library. If a newer coordinator has loaded a
    /// newer library, that library stays.
    /// - Returns: whether the library was loaded.
    package func loadFunctions() async throws(RedisError) -> Bool {
        if let present = try await functionLibrary() {
            let (theirs, ours) = (
                FunctionLibrary.version(of: present), FunctionLibrary.version(of: FunctionLibrary.text)
            )
            if theirs > ours || present == FunctionLibrary.text { return false }
        }
        _ = try await connection.call(FunctionLibrary.loadCommand)
        return true
    }
}
