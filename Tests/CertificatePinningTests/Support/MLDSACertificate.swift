// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A certificate with an ML-DSA-44 key (FIPS 204, RFC 9881), really signed with it, since the openssl of many machines
/// cannot make one yet.
///
/// Key and signature are pyca/cryptography's (48.0.0, seed 00 01 … 1f), which also read the result. The pin is Python's
/// SHA-256 of the SubjectPublicKeyInfo that it exports.
enum MLDSACertificate {
    static let pin = "g3gycIxSNtlRWB8f3fK3mZGzQkoEhtFtod2tD9aXAb4="

    static let der = [UInt8](Data(base64Encoded: Self.base64, options: .ignoreUnknownCharacters) ?? Data())

    private static let base64 = """
        MIIPITCCBZegAwIBAgIBATALBglghkgBZQMEAxEwFDESMBAGA1UEAwwJbWwtZHNhLTQ0MB4XDTI2MDEwMTAwMDAwMFoXDTM2MDEwMTAwMDAwMFow
        FDESMBAGA1UEAwwJbWwtZHNhLTQ0MIIFMjALBglghkgBZQMEAxEDggUhANeytHJUquDbReeTDUqY0sl9jxOX0Xidr6FwJLMW6b7JT8mUbULxm3mn
        QTu6oz5xSctC7VEVaTrAQfrLmIretf4OHYYxGEmVtZLDl9IpTi4U+QqkFLo4JomaxD9MzKy8JumoMrlRGNXLQzy++WYLABOOCBf2HnYsonTDatVU
        6yKqwRYuSrAay6HjjE79j4C2WzM9D3LlXf5xzpweu5iJ58VhBsD9c4A6Kuz+r97XqjyyztpU0SvYzTanjPl1lDtHq9JeiArEUuV0LtHo0agq+obl
        kMdYwVrk0oQNkryhpQkPQElll/yn2LlRPxob2m6VCqqY3kZ1B9Sk9aTwWZIWWCw1cvYu2okFqzWBZwxKAnd6M+DKcpX9j0/20aCjp2g9ZfX19/xg
        2gI+gmxfkhRMAvfRuhB1mHVT6pNn/NdtmQt/qZzUWv24g21D5Fn1GH3wWEeXCaAepoNZNfpwRgmQzT3BukAbqUurHd5BrGerMxncrKBgSNTE7vJ+
        4TqcF9BTj0MPLWQtwkFWYN54h32NirxyUjl4wELkKF9DGYRsRBJiQpdoRMEOVWuiFbWnGeWdDGsqltOYWQcf3MLN51JKe+2uVOhbMY6FTo/isvPt
        +slxkSgnCq/R5QRMOk/a/Z/zH5B4S46ORZYUSg2vWGUR09mWK56pWvGXtOX8YPKx7RXeOlvvX4m9x52RBR2bKBbnT6VFMe/cHL501EiFf0drzVjy
        HAtlOzt2pOB2plWaMCcYVVzGP3SFmqurkl8COGHKjND3utsocfZ9VTJtdFETWtRfShumkRj7ssijDuyTku8/l3Bmya3VxxDMZHsVFNIX2VjHAXw+
        kP0gwE5nS5BIbpNwoxoAHTL0c5eeSQZ0nn5Hf6C3RQj4pfI3gxK4PCW9OIygsP/3R4uvQrcWZ+2qyXxGsSlkPlhuWwVaDCEZRtTzbmdb7Vhg+gQq
        MV2YJhZNapI3w1pfv0lUkKW9TfJIuVxKrneEtgVnMWasQkW1tLCCoJ6TI+YvIHjFt2eDRG3v1zatOjcC1JsImESQCmGDM5e8RBmzDXqXoLOHwZEU
        dMTUG1PjKpd6y28Op122W7OeWecB52lX3vby1EVZwxp3EitSBOO1whnxaIsU7QvAuAGz5ugtzUPpwOn0F0TNmBW9G8iCDYuxI/BPrNGxtoXdWisb
        jbvz7ZM2cPCVoYC08ZLQixC4+rvfzCskUY4y7qCl4MkEyoRHgAg/OwzS0Li2r2e8NVuUlAJdx7Cnj6gOOi2/61EyiFHWB4GY6Uk2Ua54fsAlH5Ir
        ow6fUd9iptcnhM890gU5MXbfoySlEr2Ulwo23TSlFKhnkfDrNvAUWwmrZGUbSgMTsplhGiocSIkWJ1mHaKMRQGC6RENIbfUVIqHOiLMJhcIW+Obt
        F43VZ7MEoNTK+6iCooNC8XqaomrljbYwCD0sNY/fVmw/XWKkKFZ7yeqM6VyqDzVHSwv6jzOaJQq0388gg76O77wQVeGP4VNw7ssmBWbYP/BrIRqu
        xDyim1TM0A+IFaJGXvC0ZRXMfkHzEk8J7/9zkwmrWLKaFFmgC85QOOk4yWePcusOTuX9quZtn4Vz/Jf8QrSVn0v4th14Qz6GsDNdbpGRxNi/SHs5
        BcEIz9asJLDOt9y3z1H4TQ7Wh7lerrHFM8BvDZcCPZKnCCWDe1m6bLfU5WsKh8IDhiro8xW6WSXo7e+meTaaIgJ2YVHxapZfn4Hs52zAcLVYaeTb
        l4TPBcgwsyQsgxIwCwYJYIZIAWUDBAMRA4IJdQDXYOWEYULjNqhfROZdW6xO01P4HFcpPIe/SlZSC5qEBk5fH7rvoQQdmo9JwCHCFxoqwNR1h8+m
        v4l3osnFBIuwm+6rjUtHuCTE7hvOBwegkqD8A5T+5j+JOFXtuf8CptO0QCYgaz0QhbzPeFzFBQkFOMNyn6/PTRXtjyjCB6pqWN8LF9P+AScbeuCz
        iUTzxRoPA9JucpzfOSq4qaxH1FMYJanY+YOtjv5XFc8pRxV+sI04EeuYjLZnpWMXvUt2hQKN+3W3CB9vo/k2HLJDiLT+073PYqE52BhkIaUsTcPZ
        sQH6n08aNnoX4SW3pUVXu3ViQMwNxjN8dUsgCKtZPgyQ+qKdhSToEA714E10ZBYasIM4oBqTGKJXhlJD7buCtGZTBNt2BZdEzqi85MMT4+oExvoU
        BD6MFMoYxj/Mf4HaMGz9gk8aQePdvCcTF6fcfhrh29mZ8jiwa81mFUy9h9GyynBzSFYL3AzvCaI7Dff8NXUXzSelPkvFyBy/jvh16N4TH+Ns4Fer
        oCcjG57XoBnOl8GmF+Zw1Srfba1aSQ/yu9OJxarUhWDexWguCr5lHWwmN0rJxli0Txx04xHCMIkO3wWHFVG9ad/mGpBT45e9jN/5G525bryBaR4G
        FZ2Y+F3+fW987kI256tDEBrNv7bgAfsK+jjXdT9ELDFkBRbD/kRQOvqSApP1rHJ3hRu+pr89sNJRyvXY2K9EnlG5UZfPp68Ij+cY+4gs+9lTya7F
        KWig1PbgoBvWxHFoRMAH8e8Zx71Nfpel+pphwgNfNwOVdLOHYf+fejLh+jYEzDCu8OIXXLfp5nm/DrDPKmRvDkxFkMwFCPpEh3qmtAxVl1+UyWHJ
        rEN9vF48oVKWZ/TpaFBloR6ngvfjnOllUPw8ARIyH8WOhDt+4E4vwc1SUDBPTZxljWLaTKKtnUvwPqnv+s1uykws/AllPGauV2fUL0R41yziI/BF
        pBdlXclP/xf9uZyXsS9z3IqEmS8pVjpGF6dW0ixJ6CjCEzJOWbX39DXNrkxcv61pV/JeYaDXV9IjgprmjXYrV3G5V6HdYF1ztYKi50Bo3yyONESY
        UJEGBuG17aXiHD5mL3K14mrrihrGeA//wkn2jNJYaDl7o7ktcpT3FigYMG55qSJIbbm7otGFttw65mslsnOleAWuUoZm0OUY07zx29RbQy/h05Ax
        oIoGfO99IJoic8w2UldKLhcRYJKtNDOr5ar/A/sRtH5v8VHCGqJ38tpL6MU+iydVG+PQh9VHlME04z5lPg1IVd9QEp1FlESS1TriUOlCv6Guu0T4
        hSXG1saJEF/RvEeoJeNNuMrkmhNxYbAvj2hfhdISf+Ll2FURYW7r9w9Vp1r4oYvvn1QjiAtl5bJyl4t/dFESv96wscQqSmR/ZXp/nLiH5jNb2Al2
        h17+Q0XS8s8Btk8HfvXsGr8IxUAQCiv9QGt5P1Ds6Ale1WmdDRWK5ak815WZ8GRuPC6eeEWw3Cz7cH3ZRQBYdClUyZlHUmkUCT6+n5M8uIW9yhw4
        CSahE9kJPBRDhdRHoJH9OZ/w9MFFnm1ZJgIT2BMriFZBgGvh3j/b/KBXN6/z4v3TJ1KeosJmsQg5dwGzdaAKHNQ3HgDz8nWxGYFFNDnIfU26aiuX
        XS6ejhy/dCTfFEFSmvPbineBChnL7zPPv3IS1BmZHSnioBo6dhx7FctFgELAMRghoGo/E1ay1NhkpuPU2PGVV0Rr1+/pdigYVLazherNr1d8NwRp
        vu3j2sJvd4QJTg6vC/QGAuS3gWds+l64b/BLUiE4T6830r+JIEh5dWE/FhsEZqwZ+cqqoKEtMiQRNE3XJC+Wp5P88LLdwSQl2Qc1z4XH40dlfbq4
        qtwkucvSNdzEjzizNaql0FC237bRhKif5paEIrUbpEt7/PUqRGDtyjannNyJ5cL5mS6SeOiho+HHSTvDq2VbpE1LsQR7HX3X6SGIjf7iDPjUvXwK
        lXw7w47XC4s7494qr9nFXLR0pYUKxCKrLMRdFETUGy3RoeNQ0Vlsy1vi7llmx9tz2EIiMMOvC7sI7Rq2r3IzDCZRoombmRMwdBQRIcyQLjmYv3b6
        XZGccdadYHeRjidRgJUzGlo8xyddJyZauYOk3k4zhFp9z3FKVydxeKhEjkVKlCNh761bsACtdKZsOfTAaUxucIAbfgpcXzkMzdkGzem2AR80rFGd
        cLb+gscIIq6VXsKA/FXODzrF4l8YdyezZfdJuA7VCxRWtKUg0XM1tFuc6xy2gBLRpdIuOHhU5n9wFzV4ruJ0aQyrJoMUt5teL0oxU3yrPbVm4KNu
        YncdL2Wmq1xEZurwAKw00ftlAkEglQaO5F71Fq2QweXCVPP8qlzSKpy6ALtLifwrO5XDGX/Yrw7mQfAlh0lytXawHAhj6C2zpMVvx7YvdHqQeeTn
        xqYeQfukH8/laSnCLsaC5Qb0bpvVGxnduywSQwIibk0NHfhTsEoqlggmW1DfyzNm2yij1jLHmhzboFl066SZ9fsY2ENRqY+adnjmPiByRaoBxuIe
        EoskBBQZKZsHXZuKDo3q+ivYnX/DeW+NZ9iqaqNKGEV6aJ5BfYo9qlbaWSxbOumCZwjy8uLqQp56R7X3r7uaJEKZaFsnCE+b0gGfqlwj7ER12dKF
        2YaNS+/3SBCk/FdZFMBjyE1VxhLf7GHdQpV+R1ZLR0lJVBXF0XOOH1/SPIuyXOmtM/Txqe/jSb4UtQkJm5xNtVFBmXySQZxwRVW5IKnF1zdoD+28
        1dTttjqJN0YP378Z69IAjXJfaF7w++FuySKyuWrDJ0aMB+pYwrsyfTKpoxfnVzO2VCQ2InGtAVmOeyhX8xqVQwW6GLhIvL+OPLvtlPgkTefgiU2P
        iuWOtNV0ldEyoCJAtwttLcxzCua6pwmKGX6NuWG1binsFJqnMcob4ToS6Xp8HVN1TQY3Gq4faAfSoNgEZPtZy128pMIrNXhc0v6nLWpdehm8UDqG
        6E32N4JHbKL5ZuOmZAA6il7MlsPEPEyrRb2GA4+68aziotAcaRWKwyaq9oDRXJ6DQ2Jn9U2IE1yshy4CdBE2FprMvTsik1AaJoXVCzs/A4kiHVmt
        xBthnRmnODjR2L6svwYKDBAxN22KlZegoaeyvtHT3uX6EBVOfoWcxtTg4+nu8v4NEyw3RVRzfIOOm6mxs8fgAAIEERQjS09kaHzV4PT1AAAAAAAA
        AAAAAAAAAAAAFCIyQQ==
        """
}
