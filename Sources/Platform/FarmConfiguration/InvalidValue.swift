/// Why a value cannot be what its key needs. The reader of the key adds the place.
struct InvalidValue: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
