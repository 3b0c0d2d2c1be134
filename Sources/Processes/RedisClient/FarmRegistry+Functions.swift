import EventLoop
import RedisProtocol
package import StoreProtocol

/// The functions that Redis keeps for producers.
extension FarmRegistry {
    /// The text of the library that Redis has; nil if it has none.
    package func functionLibrary() async throws(RedisError) -> [UInt8]? {
        let list = RESPCommand("FUNCTION", "LIST", "LIBRARYNAME", FunctionLibrary.name, "WITHCODE")
        let library = try await connection.call(list).array?.first?.array ?? []
        guard let index = library.firstIndex(where: { $0.text == "library_code" }), index + 1 < library.count
        else { return nil }
        return library[index + 1].bytes
    }

    /// Loads the library if Redis has none or an older one; a newer one, of a newer coordinator, stays.
    /// - Returns: whether it was loaded.
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
